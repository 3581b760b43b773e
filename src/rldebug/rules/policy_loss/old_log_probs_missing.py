"""Answers are used again after an update without old log-probs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OldLogProbsMissing(Rule):
    """Answers are used again after an update without old log-probs.

    ## What it checks
    Passes over answers after an update, without the log-probs of the policy that wrote them.

    ## Why it matters
    Without them the ratio is 1 by definition: nothing is clipped, and older answers push as if they were fresh.

    ## Likely causes
    1. A trainer of one's own leaves `old_per_token_logps` out, or sets it to None. Confirm: print the keys of the
       batch.
    2. The ratio is taken with `logps.detach()` of the same pass. Confirm: look at the loss.

    ## What to try first
    Score answers once, right after they were written, and keep that.

    ## When it is fine
    A single pass over each answer.

    ## References
    TRL, `num_iterations`.
    """

    code: ClassVar[str] = "POL520"
    name: ClassVar[str] = "old-log-probs-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    passes: int = 2  # that it was seen in

    def check(self, evidence: Generations) -> Iterator[Finding]:
        later = [each for each in evidence.passes if each.age > 0]
        if not later:
            raise NotEnough("no pass over answers that are older than an update")
        without = [each for each in later if each.facts.get("old") is False]
        if len(without) < self.passes:
            return
        yield self.finding(
            "answers are used again after an update without the log-probs of the policy that wrote them",
            where=Where(update=without[0].update),
            seen=f"in {len(without)} of {len(later)} passes over answers that are up to "
            f"{max(each.age for each in without)} updates old",
            expected="old_per_token_logps in every batch that is used more than once",
            help="score the answers right after they were written, and use that in the ratio",
            confidence=0.9,
        )
