"""The weights that policy-gradient terms are multiplied by."""

from __future__ import annotations

from torch import Tensor

from rldebug.metric import metric
from rldebug.metrics.value import correlation, moments
from rldebug.rollout import Update


@metric(
    "advantage/mean", "advantage/std", "advantage/min", "advantage/max",
    unit="return", reads=Update, needs=("advantage",), healthy="mean near 0; within ±10, ideally ±3",
)  # fmt: skip
def advantage(update: Update) -> tuple[Tensor, ...]:
    """Distribution of the advantages on the batch, as the loss uses them."""
    assert update.advantage is not None
    return moments(update.advantage)


@metric(
    "advantage/residual_corr",
    unit="correlation",
    reads=Update,
    needs=("advantage", "value", "target"),
    healthy="close to 1 in the first epoch, always positive",
)
def residual_correlation(update: Update) -> Tensor:
    """Correlation of the advantage with target − value on the same rows. −1: the sign is flipped. 0: the rows of one
    are not the rows of the other."""
    assert update.advantage is not None and update.value is not None and update.target is not None
    return correlation(update.advantage, update.target - update.value)
