"""An episode's statistics are read in every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeInfoExpectedEveryStep(Rule):
    """An episode's statistics are read in every step.

    ## What it checks
    A KeyError for `episode`, which is in `info` at the end of an episode only.

    ## Why it matters
    The return of an episode is known when it ends.

    ## Likely causes
    1. The test whether `info` holds the key is missing. Confirm: print `info.keys()` in the middle of an episode.
    2. The environment is not wrapped in `RecordEpisodeStatistics` or `Monitor`. Confirm: print the environment.

    ## What to try first
    Write `if "episode" in info:` before it is read.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `RecordEpisodeStatistics`; Stable-Baselines3, `Monitor`.
    """

    code: ClassVar[str] = "EVA401"
    name: ClassVar[str] = "episode-info-expected-every-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("KeyError") and evidence.message.strip("'\"") in ("episode", "_episode")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the statistics of an episode were read where none has ended",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="the key in the last step of an episode only",
            help='write if "episode" in info: before it is read',
            confidence=0.85,
        )
