"""The critic learns from the filler after the end of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.padded_pushes import pushes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PaddingLearnedByCritic(Rule):
    """The critic learns from the filler after the end of episodes.

    ## What it checks
    Episodes that lie side by side in a batch are filled up to the length of the longest. Each sequence is compared with
    the episodes that were acted: what follows the last step is filler. Its rows are regressed on targets like all
    others, and no mask takes them out.

    ## Why it matters
    The targets of filler are mostly zeros: the critic is drawn towards them, in a network with a memory at every
    observation that looks like filler, and whatever it shares with the policy learns that too.

    ## Likely causes
    1. The error is averaged over the whole batch: `.mean()` or `F.mse_loss` in place of
       `(error * mask).sum() / mask.sum()`. Confirm: sum the mask and compare with the number of rows.

    ## What to try first
    Multiply the squared error of each row with the mask, and divide by the sum of the mask.

    ## When it is fine
    Where the state after an end is a state of its own, worth nothing on purpose.

    ## References
    Bug kind ADV-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL394"
    name: ClassVar[str] = "padding-learned-by-critic"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("POL395",)

    rows: int = 16  # of filler
    share: float = 0.5  # of them that are pushed

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = pushes(evidence, "regression")
        if seen.example is None or seen.filler < self.rows:
            raise NotEnough(f"{seen.filler} rows of filler in losses of a critic, needs {self.rows}")
        if seen.pushed < self.share * seen.filler:
            return
        yield self.finding(
            "the critic learns from the filler after the end of episodes",
            where=seen.example.where,
            seen=f"{seen.pushed} of {seen.filler} rows after the end of an episode are regressed on a target; they are "
            f"{seen.filler / seen.rows:.0%} of all rows",
            expected="rows that were acted, and no others",
            help="multiply the error of each row with the mask of the steps, and divide by its sum",
            confidence=0.93,
        )
