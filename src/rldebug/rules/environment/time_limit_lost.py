"""The time limit it is registered with is not in force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitLost(Rule):
    """The time limit it is registered with is not in force.

    ## What it checks
    The limit with which the environment is registered, beside the longest episode that was played: one ran past it.

    ## Why it matters
    Episodes never end, or much later than in published results: returns are not comparable, and a loop that waits for
    an end waits for ever.

    ## Likely causes
    1. A wrapper was put around `env.env`, which takes off the `TimeLimit` that `gymnasium.make` put on. Confirm: print
       the environment: there is no `TimeLimit`.
    2. It is put around `env.unwrapped`, for an attribute of it. Confirm: look for `unwrapped` where it is made.
    3. A wrapper returns `truncated=False`, or the flag of the wrong step. Confirm: print `truncated` below and above
       it.

    ## What to try first
    Wrap what `gymnasium.make` returns, not what is inside of it.

    ## When it is fine
    It was made with `max_episode_steps=-1`, on purpose, or a longer limit was asked for.

    ## References
    CleanRL commit 9f1832ed.
    """

    code: ClassVar[str] = "ENV028"
    name: ClassVar[str] = "time-limit-lost"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if evidence.limit is None:
            raise NotEnough("it is not registered with a time limit")
        if any("limits time" in layer.roles for layer in evidence.layers) or evidence.longest <= evidence.limit:
            return
        yield self.finding(
            "the time limit is not in force",
            where=evidence.where,
            seen=f"an episode of {evidence.longest} steps or more; no wrapper limits the time",
            expected=f"an end after {evidence.limit} steps, as registered",
            help="wrap what gymnasium.make returns, not env.env or env.unwrapped",
            confidence=0.8,
        )
