"""What the layers put out, sampled: dead and saturated units, and the spread of activations."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Activations

LAYER_COLUMNS = ("mean", "std", "absmax", "dead", "saturated")
"""Columns of the table `layers`: one row per layer. `dead` and `saturated` are NaN for layers that cannot be."""

_RECTIFIERS = frozenset({"ReLU", "ReLU6", "Hardswish", "Hardsigmoid"})
_SQUASHERS = frozenset({"Tanh", "Sigmoid", "Hardtanh", "Softsign"})
_ENOUGH = 16  # rows; on one row half of all rectified units are off


@metric("layers", unit="mixed", reads=Activations, kind="table")
def layers(seen: Activations) -> tuple[list[str], Tensor]:
    """Per layer: mean, standard deviation and largest size of its output; share of its units that are 0 on the whole
    batch (rectifiers), and that are within 1 % of a bound on the whole batch (squashers)."""
    rows = []
    for name, output in seen.outputs.items():
        flat = output.float().reshape(output.shape[0], -1)
        nan = torch.full((), float("nan"), device=flat.device)
        dead = saturated = nan
        if output.shape[0] >= _ENOUGH:
            if seen.kinds[name] in _RECTIFIERS:
                dead = (flat == 0).all(0).float().mean()
            elif seen.kinds[name] in _SQUASHERS:
                low = 0.0 if seen.kinds[name] == "Sigmoid" else -1.0
                near = (flat > 1.0 - 0.01) | (flat < low + 0.01)
                saturated = near.all(0).float().mean()
        rows.append(torch.stack([flat.mean(), flat.std(correction=0), flat.abs().max(), dead, saturated]))
    return list(seen.outputs), torch.stack(rows)


@metric("layers/dead", unit="share of units", reads=Activations, healthy="below 0.5", detail=True)
def dead(seen: Activations) -> Tensor | None:
    """Share of rectified units that are 0 on the whole batch, in the worst layer."""
    return _worst(seen, 3)


@metric("layers/saturated", unit="share of units", reads=Activations, healthy="near 0", detail=True)
def saturated(seen: Activations) -> Tensor | None:
    """Share of squashed units that sit at a bound on the whole batch, in the worst layer."""
    return _worst(seen, 4)


def _worst(seen: Activations, column: int) -> Tensor | None:
    wanted = _RECTIFIERS if column == 3 else _SQUASHERS
    judged = any(seen.kinds[name] in wanted and each.shape[0] >= _ENOUGH for name, each in seen.outputs.items())
    if not judged:
        return None
    column_values = layers(seen)[1][:, column]
    return torch.where(column_values.isnan(), torch.full_like(column_values, -1.0), column_values).max()
