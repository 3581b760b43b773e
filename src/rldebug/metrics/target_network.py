"""A network and its target copy."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Pair, norms


@metric(
    "target_net/distance",
    unit="share of the weights",
    reads=Pair,
    healthy="above 0 between updates of the target, small",
)
def distance(pair: Pair) -> Tensor:
    """|θ − θ_target| / |θ|."""
    gap = torch._foreach_sub(list(pair.online), list(pair.target))
    return _length(gap) / _length(pair.online)


@metric("target_net/fingerprint", unit="hash", reads=Pair, healthy="changes whenever the target is updated")
def fingerprint(pair: Pair) -> Tensor:
    """The target's weight norm: unchanged for as long as the target is."""
    return _length(pair.target)


def _length(tensors: Sequence[Tensor]) -> Tensor:
    return norms(tensors).square().sum().sqrt()
