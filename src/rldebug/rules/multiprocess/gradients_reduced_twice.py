"""Gradients are reduced over the ranks once more than is right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import steps_reduced
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GradientsReducedTwice(Rule):
    """Gradients are reduced over the ranks once more than is right.

    ## What it checks
    Some numbers of the gradient are taken on every rank, as they come out of the backward pass and as the optimizer
    steps with them. Under DistributedDataParallel the second are the number of ranks times the mean of the first; or
    they are the mean once more divided by that number.

    ## Why it matters
    The gradient is too large, or too small, by the number of processes; clipping and the logged norms are off with it.

    ## Likely causes
    1. DistributedDataParallel averages by itself, and an `all_reduce` by hand follows. Confirm: look for `all_reduce`
       between `backward()` and `step()`.
    2. The mean of DistributedDataParallel, or of `ReduceOp.AVG`, is divided by the world size again. Confirm: compare
       the gradient with that of one process on all of the data.

    ## What to try first
    Take out the second reduction.

    ## When it is fine
    Never: a loss that is meant to be a sum is scaled before the backward pass, and that is not counted here.

    ## References
    PyTorch, *DistributedDataParallel*: gradients are averaged during the backward pass.
    """

    code: ClassVar[str] = "MPR353"
    name: ClassVar[str] = "gradients-reduced-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    steps: int = 6  # that must tell
    share: float = 0.9  # of them that must agree
    apart: float = 0.01  # relative, from the number of ranks

    def check(self, evidence: Script) -> Iterator[Finding]:
        members, told = steps_reduced(evidence, self.steps)
        world, wrapped = len(members), any(each.get("wrapped") for each in members)
        summed = [each for each in told if wrapped and abs(each.factor / world - 1.0) < self.apart]
        # Several passes before a step may be averaged by hand, over just as many.
        divided = [each for each in told if each.passes == 1 and abs(each.factor * world - 1.0) < self.apart]
        for off, what, why in (
            (summed, f"{world} times", "DistributedDataParallel has averaged them: take out the all_reduce by hand"),
            (divided, f"1/{world} of", "they are averaged already: take out the second division by the world size"),
        ):
            if len(off) >= self.share * len(told):
                yield self.finding(
                    "gradients are " + ("reduced twice" if off is summed else "divided by the number of ranks twice"),
                    where=Where(update=off[0].update),
                    seen=f"{len(off)} of {len(told)} steps use {what} the mean of the ranks' gradients",
                    expected="their mean",
                    help=why,
                    confidence=0.93,
                )
