"""The reward follows the length of the answer, and answers grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.forensics.answers import correlations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardFollowsLength(Rule):
    """The reward follows the length of the answer, and answers grow.

    ## What it checks
    Within groups of answers to one prompt, how reward and length go together; and how much longer answers have
    become.

    ## Why it matters
    The policy is paid by the word: it learns to write more, not to answer better.

    ## Likely causes
    1. A reward model prefers long answers. Confirm: score an answer with empty phrases added.
    2. The reward counts something that grows with length. Confirm: divide by the length.
    3. Cut answers are not punished. Confirm: compare rewards of answers that end and that do not.

    ## What to try first
    Take the length out of the reward, or put a price on it.

    ## When it is fine
    Tasks in which longer answers are better.

    ## References
    Singhal et al., A Long Way to Go, arXiv 2310.03716; rlprobe's REWARD_HACK_LENGTH.
    """

    code: ClassVar[str] = "ENV513"
    name: ClassVar[str] = "reward-follows-length"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"

    together: float = 0.85  # mean correlation within late groups
    growth: float = 1.25  # of the mean length, from the first quarter of the rounds to the last
    groups: int = 8  # late ones that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        found = correlations(evidence, "reward", "tokens", late=True)
        if len(found) < self.groups or len(evidence.rounds) < 4:
            raise NotEnough(f"{len(found)} late groups in which reward and length differ, needs {self.groups}")
        quarter = max(1, len(evidence.rounds) // 4)
        before = float(np.mean([each.column("tokens").mean() for each in evidence.rounds[:quarter]]))
        after = float(np.mean([each.column("tokens").mean() for each in evidence.rounds[-quarter:]]))
        together = float(found.mean())
        if together < self.together or after < self.growth * before:
            return
        yield self.finding(
            "the reward follows the length of the answer, and answers grow",
            seen=f"correlation {together:.2f} within {len(found)} groups; from {before:.3g} to {after:.3g} tokens",
            expected="rewards for what an answer says",
            help="take the length out of the reward, or put a price on it",
            confidence=0.65,
        )
