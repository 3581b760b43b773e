"""Gradients are added up over the ranks, and not divided by their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import steps_reduced
from rldebug.rule import Rule

_SCALE_FREE = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Lion")


@dataclass(frozen=True, kw_only=True)
class GradientsSummedOverRanks(Rule):
    """Gradients are added up over the ranks, and not divided by their number.

    ## What it checks
    Some numbers of the gradient are taken on every rank, as they come out of the backward pass and as the optimizer
    steps with them. The second are the number of ranks times the mean of the first, and a part of the loss is a plain
    mean: it was not divided before.

    ## Why it matters
    The gradient grows with the number of processes. With SGD each step is that many times longer; with Adam it is
    clipped more, and every norm that is logged is off.

    ## Likely causes
    1. `all_reduce` adds up unless told otherwise. Confirm: look for a division by the world size behind it.

    ## What to try first
    Divide by `dist.get_world_size()` behind the `all_reduce`, or reduce with `ReduceOp.AVG`.

    ## When it is fine
    Where the learning rate was chosen for the sum, and never for another number of processes.

    ## References
    PyTorch, *DistributedDataParallel*: gradients are averaged.
    """

    code: ClassVar[str] = "MPR352"
    name: ClassVar[str] = "gradients-summed-over-ranks"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    steps: int = 6  # that must tell
    share: float = 0.9  # of them that must agree
    apart: float = 0.01  # relative, from the number of ranks

    def check(self, evidence: Script) -> Iterator[Finding]:
        members, told = steps_reduced(evidence, self.steps)
        if any(each.get("wrapped") for each in members):
            return  # reduced twice, then: another rule
        terms = [each for member in members for each in member.get("terms") or ()]
        if not any(reduction == "mean" and abs(abs(factor) - 1.0) < 1e-3 for _, reduction, factor in terms):
            return  # the division may be in the loss
        world = len(members)
        off = [each for each in told if abs(each.factor / world - 1.0) < self.apart]
        if len(off) < self.share * len(told):
            return
        first = off[0]
        gentle = first.how in _SCALE_FREE
        yield self.finding(
            f"gradients are summed over {world} ranks, not averaged",
            where=Where(update=first.update),
            seen=f"{len(off)} of {len(told)} steps use {first.factor:.3g} times the mean of the ranks' gradients",
            expected="their mean: as large as with one process",
            help="divide by the world size after all_reduce",
            confidence=0.9,
            severity="warning" if gentle else "error",
        )
