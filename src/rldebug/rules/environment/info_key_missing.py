"""Something is read from info that this environment does not put there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_KEYS = (
    "final_observation",
    "final_obs",
    "_final_observation",
    "_final_obs",
    "terminal_observation",
    "final_info",
    "_final_info",
    "TimeLimit.truncated",
    "action_mask",
    "lives",
)


@dataclass(frozen=True, kw_only=True)
class InfoKeyMissing(Rule):
    """Something is read from info that this environment does not put there.

    ## What it checks
    A KeyError for a key under which environments tell the last observation or the kind of an ending.

    ## Why it matters
    The names differ between libraries and versions, and most are there at the end of an episode only.

    ## Likely causes
    1. Gymnasium 1.0 calls it `final_obs`, earlier versions `final_observation`, Stable-Baselines3
       `terminal_observation`. Confirm: print the keys of `info` at the end of an episode.
    2. The environment resets itself one step later, and never gives it. Confirm: look at its autoreset mode.

    ## What to try first
    Print `info.keys()` at the end of an episode.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Vector autoreset modes*.
    """

    code: ClassVar[str] = "ENV404"
    name: ClassVar[str] = "info-key-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("KeyError") and evidence.message.strip("'\"") in _KEYS

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "info does not hold what is read from it",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="keys that this version of this environment gives",
            help="print info.keys() at the end of an episode: it is final_obs in Gymnasium 1.0",
            confidence=0.85,
        )
