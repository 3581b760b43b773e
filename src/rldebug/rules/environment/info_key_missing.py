"""Something is read from info that this environment does not put there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.info import info_asked
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_LAST = (
    'ask first: if "final_obs" in infos. It is final_obs in Gymnasium 1.0 with autoreset_mode=SAME_STEP, '
    "final_observation before, terminal_observation in Stable-Baselines3; with the default NEXT_STEP the last "
    "observation is what step() itself returns"
)
_INFO = (
    'ask first: if "final_info" in infos. Gymnasium 1.0 puts what RecordEpisodeStatistics gives into '
    'infos["episode"] unless autoreset_mode is SAME_STEP'
)
_KEYS = {
    "final_observation": _LAST,
    "final_obs": _LAST,
    "_final_observation": _LAST,
    "_final_obs": _LAST,
    "terminal_observation": _LAST,
    "final_info": _INFO,
    "_final_info": _INFO,
    "TimeLimit.truncated": "take truncated, the fourth value of step(): Gymnasium no longer puts it into info",
    "action_mask": "the environment gives no mask in this step: look at what its reset() and step() put into info",
    "lives": 'only games of Atari have lives: write info.get("lives", 0)',
}


@dataclass(frozen=True, kw_only=True)
class InfoKeyMissing(Rule):
    """Something is read from info that this environment does not put there.

    ## What it checks
    A KeyError for a key under which environments tell the last observation or the kind of an ending; and for any other
    that is asked of the info of `step()` or `reset()`.

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
        key = _key(evidence)
        if not evidence.is_a("KeyError") or key in ("episode", "_episode"):
            return False
        return key in _KEYS or bool(info_asked(evidence, key))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        key = _key(evidence)
        asked = info_asked(evidence, key)
        held = [(name, fact["keys"]) for name, fact in evidence.operands().items() if fact.get("type") == "dict"]
        name, keys = held[0] if len(held) == 1 else (asked or "info", None)
        there = f"{name} holds {', '.join(keys)}" if keys else f"{name} is empty" if keys is not None else ""
        yield self.finding(
            f"the dict {name} does not hold {key}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {there}' if there else ''}",
            expected="keys that this version of this environment gives, at the end of an episode",
            help=_KEYS.get(key)
            or f"look at what step() of the environment puts into {name}: {name}.get({key!r}) asks first",
            confidence=0.85,
        )


def _key(crash: Crash) -> str:
    return crash.message.strip("'\"")
