"""A network and its target copy."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Pair


@metric(
    "target_net/distance",
    unit="share of the weights",
    reads=Pair,
    healthy="above 0 between updates of the target, small",
)
def distance(pair: Pair) -> Tensor:
    """|θ − θ_target| / |θ|."""
    gap = torch._foreach_sub(list(pair.online), list(pair.target))
    return _norm(gap) / _norm(pair.online)


@metric("target_net/fingerprint", unit="hash", reads=Pair, healthy="changes whenever the target is updated")
def fingerprint(pair: Pair) -> Tensor:
    """The target's weight norm: unchanged for as long as the target is."""
    return _norm(pair.target)


def _norm(tensors: object) -> Tensor:
    return torch.stack([each.float() for each in torch._foreach_norm(list(tensors))]).norm()  # type: ignore[call-overload]
