"""Some rungs could not be decided with these settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SettingsUnsuitedToProbes(Rule):
    """Some rungs could not be decided with these settings.

    ## What it checks
    Rungs whose attempts ended without a verdict: too few optimizer steps, weights that hardly moved, values that
    jitter, or that were still on their way.

    ## Why it matters
    Nothing is known to be wrong; nothing is known to be right there either.

    ## Likely causes
    1. Rollouts, warm-up or batches made for problems a thousand times larger. Confirm: the reason beside each
       undecided rung says how many updates there were.
    2. A learning rate so small that nothing moves, or so large that nothing rests. Confirm: the reason says which.

    ## What to try first
    Shorten rollouts and warm-up, or raise `--steps` and `--seconds`.

    ## When it is fine
    It is no fault: these rungs are small, and settings are made for something else.

    ## References
    See the settings suited to probes that `rldebug probe algo:ppo` uses.
    """

    code: ClassVar[str] = "EVA004"
    name: ClassVar[str] = "settings-unsuited-to-probes"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Ladder"

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        open_ = [each for each in evidence.rungs if each.outcome == "undecided"]
        if not open_:
            return
        named = ", ".join(each.name for each in open_[:4]) + (f" and {len(open_) - 4} more" if len(open_) > 4 else "")
        yield self.finding(
            "some rungs could not be decided with these settings",
            seen=f"{named}; {open_[0].name}: {open_[0].reason}",
            expected="a verdict within the budget",
            help="shorten rollouts and warm-up, or raise --steps and --seconds",
            confidence=0.5,
        )
