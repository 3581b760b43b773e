"""The ranks of a distributed training step with different gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import ranks, together
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientsNotAveraged(Rule):
    """The ranks of a distributed training step with different gradients.

    ## What it checks
    Processes that joined one group are watched each. The norm of the gradient that an optimizer steps with is
    compared between ranks, at the same update: they differ.

    ## Why it matters
    Each rank trains a network of its own, on its own data. The processes cost time and add nothing.

    ## Likely causes
    1. Gradients are not reduced, or the reduced ones are not written back to the parameters. Confirm: compare
       `p.grad` on two ranks after the reduction.
    2. The network is not called through its DistributedDataParallel wrapper. Confirm: look for `model.module(...)`
       in the loss.

    ## What to try first
    Average the gradients over all ranks between backward and step, in place.

    ## When it is fine
    Methods that average weights now and then instead of gradients; those agree at the moments they do so.

    ## References
    Bug kind MPR-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "MPR351"
    name: ClassVar[str] = "gradients-not-averaged"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    steps: int = 6  # that are compared
    apart: float = 1e-4  # relative difference of the norms

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = ranks(evidence)
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes of one group were watched, needs 2")
        compared = together(members, "gradients")
        if len(compared) < self.steps:
            raise NotEnough(f"{len(compared)} steps of two ranks at the same update, needs {self.steps}")
        differing = [each for each in compared if abs(each.one - each.other) > self.apart * max(abs(each.one), 1e-9)]
        if len(differing) < 0.9 * len(compared):
            return
        first = differing[0]
        yield self.finding(
            "the ranks step with different gradients",
            where=Where(update=first.update),
            seen=f"norms differ in {len(differing)} of {len(compared)} steps: {first.one:.4g} and {first.other:.4g}",
            expected="the same gradient on every rank, averaged over all",
            help="average the gradients over all ranks before the step, and write them back",
            confidence=0.95,
        )
