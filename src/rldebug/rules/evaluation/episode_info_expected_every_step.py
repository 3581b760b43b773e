"""An episode's statistics are read where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_RECORDERS = ("RecordEpisodeStatistics", "Monitor", "VecMonitor")


@dataclass(frozen=True, kw_only=True)
class EpisodeInfoExpectedEveryStep(Rule):
    """An episode's statistics are read where they are not.

    ## What it checks
    A KeyError for `episode`, which is in `info` at the end of an episode only, and only where a wrapper records it.
    Where the environment is in reach, its wrappers are looked at.

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
        recorded = _recorded(evidence)
        asked = 'if "episode" in info:'
        message, advice = {
            True: (
                "the statistics of an episode were read where none has ended",
                f"write {asked} before it is read",
            ),
            False: (
                "no wrapper records the statistics of an episode that are read from info",
                f"wrap it: gymnasium.wrappers.RecordEpisodeStatistics(env), of the vector subpackage for a vector, or "
                f"Monitor(env); and write {asked} before it is read",
            ),
            None: (
                "the statistics of an episode are not in info",
                f"write {asked} before it is read, and wrap the environment in RecordEpisodeStatistics or Monitor",
            ),
        }[recorded]
        layers = [[each["type"] for each in fact.get("layers", [])] for _, _, fact in evidence.held("environment")]
        made = f"; the environment is {' > '.join(layers[0])}" if recorded is False and layers else ""
        yield self.finding(
            message,
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{made}",
            expected="the key in the last step of an episode only, of an environment that records it",
            help=advice,
            confidence=0.85,
        )


def _recorded(crash: Crash) -> bool | None:
    """Whether an environment in reach has a wrapper that does it; None where that cannot be seen."""
    layers = [fact.get("layers", []) for _, _, fact in crash.held("environment")]
    names = [each["type"] for env in layers for each in env]
    if any(name in _RECORDERS for name in names):
        return True
    # A layer of the user's own may do the same, and one in another process cannot be looked at.
    every = [each for env in layers for each in env]
    hidden = any(each.get("classes") or re.search("Async|Subproc|Proxy|Remote", each["type"]) for each in every)
    return None if hidden or not names else False
