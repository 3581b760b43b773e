"""Every state is given the mean value, whatever is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import alike, same_to_the_bit, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ValueDrawnToTheMean(Rule):
    """Every state is given the mean value, whatever is seen.

    ## What it checks
    States worth 1 and −1 are both worth about 0, though the network can tell them apart, and, where the policy learns
    by itself, it does.

    ## Why it matters
    A critic that knows only the mean is no critic: explained variance stays at 0, and action values cannot be
    compared.

    ## Likely causes
    1. A loss of values `(N, 1)` and targets `(N,)` broadcasts to `(N, N)`: each value is drawn to every target.
       Confirm: print the shape of `value − target` before the mean; it must be `(N,)`.
    2. Targets are shuffled, or averaged, before the loss. Confirm: print value, target and observation of ten rows.
    3. Rewards are those of other steps; where there is no policy of its own, that has the same answer. Confirm: store
       the step's number as reward, and look at the rows.

    ## What to try first
    Print `value.shape`, `target.shape` and the shape of their difference.

    ## When it is fine
    Never: the reward is told by what is seen.

    ## References
    torch warns of it in `mse_loss` (`Using a target size …`), and not in a plain subtraction.
    """

    code: ClassVar[str] = "VAL011"
    name: ClassVar[str] = "value-drawn-to-the-mean"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("BUF012")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-reward"]
        if rung.outcome != "failed" or not alike(rung) or same_to_the_bit(rung, "value"):
            return
        yield self.finding(
            "every state is given the mean value, whatever is seen",
            **shown(rung),
            help="print value.shape, target.shape and the shape of their difference: it must be (N,)",
            confidence=0.85,
        )
