"""The policy learns from the filler after the end of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.padded_pushes import pushes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PaddingLearned(Rule):
    """The policy learns from the filler after the end of episodes.

    ## What it checks
    Episodes that lie side by side in a batch are filled up to the length of the longest. Each sequence is compared with
    the episodes that were acted: what follows the last step is filler. The weights of its log-probs are not zero, and
    no mask takes them out.

    ## Why it matters
    Nobody chose these actions. The policy is pushed by rows that never happened, the more the shorter an episode is.

    ## Likely causes
    1. The loss is averaged over the whole batch: `.mean()` in place of `(loss * mask).sum() / mask.sum()`. Confirm:
       sum the mask and compare with the number of rows.
    2. Advantages are normalised after they were masked, so that filler gets `-mean / std`. Confirm: print the
       advantages of one short episode.

    ## What to try first
    Multiply the loss of each row with the mask, and divide by the sum of the mask.

    ## When it is fine
    Never.

    ## References
    Bug kinds ADV-11, POL-16 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL395"
    name: ClassVar[str] = "padding-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 16  # of filler
    share: float = 0.5  # of them that are pushed

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = pushes(evidence, "policy")
        if seen.example is None or seen.filler < self.rows:
            raise NotEnough(f"{seen.filler} rows of filler in losses of a policy, needs {self.rows}")
        if seen.pushed < self.share * seen.filler:
            return
        yield self.finding(
            "the policy learns from the filler after the end of episodes",
            where=seen.example.where,
            seen=f"{seen.pushed} of {seen.filler} rows after the end of an episode have a weight that is not zero; "
            f"they are {seen.filler / seen.rows:.0%} of all rows",
            expected="rows that were acted, and no others",
            help="multiply the loss of each row with the mask of the steps, and divide by its sum",
            confidence=0.95,
        )
