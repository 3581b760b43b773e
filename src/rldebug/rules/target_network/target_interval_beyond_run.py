"""The target network is to be updated less often than the run is long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument, library, method
from rldebug.syntax.numbers import number
from rldebug.syntax.places import calls, loops_of

_LIBRARIES = ("stable_baselines3.", "sb3_contrib.")


@dataclass(frozen=True, kw_only=True)
class TargetIntervalBeyondRun(Rule):
    """The target network is to be updated less often than the run is long.

    ## What it checks
    A model of Stable-Baselines3 is given `target_update_interval`, and all calls of `learn()` in the file together ask
    for fewer steps than that. Both numbers are read from the source: literals, constants, defaults of options.

    ## Why it matters
    The target network keeps the weights that it was made with. Targets are rewards plus the values of a network that
    knows nothing.

    ## Likely causes
    1. Steps and updates are mixed up, or the value is from a much longer run. Confirm: compare the two numbers.

    ## What to try first
    An interval that fits fifty times into the run or more.

    ## When it is fine
    Options that are always given on the command line.

    ## References
    Stable-Baselines3, *DQN*: `target_update_interval` counts environment steps.
    """

    code: ClassVar[str] = "TGT629"
    name: ClassVar[str] = "target-interval-beyond-run"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT300",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        budgets = [
            number(evidence, argument(call, 0, "total_timesteps"))
            for call in calls(evidence)
            if method(call) == "learn" and (call.args or call.keywords)
        ]
        steps = sum(each for each in budgets if each is not None)
        if not budgets or None in budgets or _in_a_loop(evidence):
            return
        for call in calls(evidence):
            given = next((each.value for each in call.keywords if each.arg == "target_update_interval"), None)
            if given is None or not library(evidence, call).startswith(_LIBRARIES):
                continue
            interval = number(evidence, given)
            if interval is not None and interval > steps > 0:
                yield self.finding(
                    f"the target network is never updated: after {interval:.0f} steps, in a run of {steps:.0f}",
                    where=evidence.at(given),
                    seen=f"target_update_interval={evidence.quoted(given)}, and learn() is asked for {steps:.0f} steps",
                    expected="an interval that fits into the run many times",
                    help="a target_update_interval of a fiftieth of the steps, or less",
                    confidence=0.9,
                )


def _in_a_loop(source: Source) -> bool:
    """Whether learn() is called more often than it stands in the text."""
    return any(method(each) == "learn" and loops_of(source, each) for each in calls(source))
