"""A distribution and its parameters or actions differ in shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told, shapes_differ
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DistributionShapesDiffer(Rule):
    """A distribution and its parameters or actions differ in shape.

    ## What it checks
    A distribution refused shapes that do not fit: two parameters, or an action and the parameters.

    ## Why it matters
    The log-prob of an action is that of its own state.

    ## Likely causes
    1. The actions of a batch have another shape than the network's output: a column, an axis of environments. Confirm:
       print both shapes.
    2. Mean and standard deviation are made for different numbers of actions. Confirm: the same.
    3. `Independent` is asked for more axes than there are. Confirm: print `dist.batch_shape`.

    ## What to try first
    Print the shape of the action beside `dist.batch_shape` and `dist.event_shape`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.distributions`: shapes of batch and event.
    """

    code: ClassVar[str] = "ACT433"
    name: ClassVar[str] = "distribution-shapes-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        told = evidence.says(
            "is not broadcastable with batch_shape",
            "Expected reinterpreted_batch_ndims",
            "'?a'? and '?p'? must have same size",
            "must be at least one-dimensional",
        )
        return told or (shapes_differ(evidence) and evidence.inside("torch.distributions"))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a distribution was given shapes that do not fit",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an action of the shape batch_shape + event_shape",
            help="print the shape of each beside dist.batch_shape and dist.event_shape: one row for each state, one "
            "column "
            "for each of the number of actions",
            confidence=0.85,
        )
