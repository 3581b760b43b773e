"""One additive part of a loss, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
from torch import Tensor

from rldebug.capture.loss_mark import Clip

Array = npt.NDArray[Any]
ROWS = 4096  # that are kept of an array


@dataclass
class Term:
    """One additive part of a loss, as plain data."""

    kind: str  # "regression" | "policy" | "entropy" | "output" | "classification" | "other"
    coefficient: float  # sign and scale with which it enters the loss, without the 1/N of a mean
    reduction: str  # "mean" | "sum" | "none" | "mixed": a sum of means, or a mean of sums
    op: str  # "mse" "huber" "smooth-l1" "l1" "square" "cross-entropy" "exp-ratio" "logp" …; of "other", the node's name
    rows: int  # elements that the reduction ran over
    scale: float = 1.0  # with the 1/N
    line: tuple[str, int] | None = None  # where it is written, if it was made under anomaly recording
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # as they were before broadcasting
    arrays: dict[str, Array] = field(default_factory=dict)  # a row each; parts of an action side by side
    attached: dict[str, bool] = field(
        default_factory=dict
    )  # "target", "weight", "action": does this side carry a graph
    clip: Clip | None = None  # bounds on the ratio (policy) or on the step of the value (regression)
    nested: str = ""  # "min" or "max" where the smaller or larger of two was taken
    outer: float | None = None  # sign of what stands before it: −min(…) and max(…) hold back, min(…) and −max(…) do not
    inputs: list[Tensor] = field(default_factory=list)  # data that the first layers beneath took in: never stored
    picks: tuple[int, Array] | None = None  # how many rows went in, and which of them are those of the arrays
    parameters: set[int] = field(default_factory=set)  # id() of the leaves beneath
    plain: set[int] = field(default_factory=set)  # those that are no nn.Parameter
    sides: dict[str, list[int]] = field(default_factory=dict)  # those beneath the target or the weight alone
    steps: int = 1  # how many terms of the same form, one per step, were put together here
    inverted: bool = False  # the ratio is exp(old − new)
    family: str = ""  # of a log-prob: "categorical" "normal" "bernoulli" "beta", joined by + if there are several
    through: bool = False  # an output of one network is put beside data and given to the next: a critic under an actor
    bounded: Clip | None = None  # bounds on ratio · weight, where that is clipped instead
    pooled: int = 0  # weights per row that met what was reduced already, and only enter through their sum
    twice: bool = False  # log-probs of a softmax of a softmax
    inner: tuple[str, int] | None = None  # where the first of the two is written
    zeroed: bool = False  # log-probs of scores that were multiplied by a mask of zeros and ones
    across: bool = False  # log-probs of a softmax over the rows of the batch
    averaged: int = 0  # elements of each row that a log-prob is the mean over, and not the sum
    entropies: tuple[int, ...] = ()  # choices of the distributions whose entropy stands in the same loss
    unpicked: tuple[int, ...] = ()  # of those of them that nothing else is made of: of a policy, by a log-prob alone
    cut_off: set[int] = field(default_factory=set)  # leaves of layers that a policy reads, and a regression trains
    cut: bool = False  # more than `ROWS` rows, or a graph too long to be read to its end
