"""What the layers put out, sampled, and what comes back: dead and saturated units, spread, gradients of activations."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from rldebug.evidence.run import Run, Series
from rldebug.metric import metric
from rldebug.rollout import ActivationGradients, Activations

LAYER_COLUMNS = ("mean", "std", "absmax", "dead", "saturated")
"""Columns of the table `layers`: one row per layer. `dead` and `saturated` are NaN for layers that cannot be."""

GRADIENT_COLUMNS = ("norm", "absmax", "without")
"""Columns of the table `layer_gradients`."""

_RECTIFIERS = frozenset({"ReLU", "ReLU6", "Hardswish", "Hardsigmoid"})
_SQUASHERS = frozenset({"Tanh", "Sigmoid", "Hardtanh", "Softsign"})
_ENOUGH = 16  # rows; on one row half of all rectified units are off


@metric("layers", unit="mixed", reads=Activations, healthy="std about 1; few dead or saturated", kind="table")
def layers(seen: Activations) -> tuple[list[str], Tensor]:
    """Per layer: mean, standard deviation and largest size of its output; share of its units that are 0 on the whole
    batch (rectifiers), and that are within 1 % of a bound on the whole batch (squashers)."""
    rows = []
    for name, output in seen.outputs.items():
        # Time-major outputs, (T, B, units), are T·B rows; images keep one unit per place.
        flat = output.float().flatten(0, 1) if output.ndim == 3 else output.float().flatten(1)
        nan = torch.full((), float("nan"), device=flat.device)
        dead = saturated = nan
        if flat.shape[0] >= _ENOUGH:
            if seen.kinds[name] in _RECTIFIERS:
                dead = (flat == 0).all(0).float().mean()
            elif seen.kinds[name] in _SQUASHERS:
                low = 0.0 if seen.kinds[name] == "Sigmoid" else -1.0
                near = (flat > 1.0 - 0.01) | (flat < low + 0.01)
                saturated = near.all(0).float().mean()
        std, mean = torch.std_mean(flat, correction=0)
        rows.append(torch.stack([mean, std, torch.linalg.vector_norm(flat, float("inf")), dead, saturated]))
    return list(seen.outputs), torch.stack(rows)


@metric("layer_gradients", unit="mixed", reads=ActivationGradients, healthy="alike in all layers", kind="table")
def gradients(seen: ActivationGradients) -> tuple[list[str], Tensor]:
    """Per layer: norm and largest size of the loss's gradient at its output, and the share of its units that none
    comes back to, on the whole batch."""
    rows = []
    for gradient in seen.gradients.values():
        flat = gradient.float().flatten(0, 1) if gradient.ndim == 3 else gradient.float().flatten(1)
        sizes = [torch.linalg.vector_norm(flat), torch.linalg.vector_norm(flat, float("inf"))]
        rows.append(torch.stack([*sizes, (flat == 0).all(0).float().mean()]))
    return list(seen.gradients), torch.stack(rows)


@metric("layers/dead", unit="share of units", reads=Run, healthy="below 0.5")
def dead(run: Run) -> list[Series]:
    """Share of rectified units that are 0 on the whole batch, in the worst layer."""
    return _worst(run, "layers/dead", LAYER_COLUMNS.index("dead"))


@metric("layers/saturated", unit="share of units", reads=Run, healthy="near 0")
def saturated(run: Run) -> list[Series]:
    """Share of squashed units that sit at a bound on the whole batch, in the worst layer."""
    return _worst(run, "layers/saturated", LAYER_COLUMNS.index("saturated"))


def _worst(run: Run, name: str, column: int) -> list[Series]:
    """The largest entry of a column in each recording of the table, where any layer has one."""
    found = [
        (reading.update, reading.env_step, max(judged))
        for reading, table in run.table("layers")
        if (judged := [row[column] for row in table.values() if not math.isnan(row[column])])
    ]
    updates, env_steps, values = zip(*found, strict=True) if found else ((), (), ())
    return [Series(name, np.array(updates, np.int64), np.array(env_steps, np.int64), np.array(values, np.float64))]
