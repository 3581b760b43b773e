"""Most of the declared action range does nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionRangeSaturates(Rule):
    """Most of the declared action range does nothing more.

    ## What it checks
    From one seeded state, each dimension of the action is held at shares of its declared range. Beyond a small share
    both sides do exactly what the bound does.

    ## Why it matters
    A policy that spreads its actions over the declared range nearly always acts at full force: it can hardly learn to
    act finely, and its noise has no effect.

    ## Likely causes
    1. The action is clipped to [-1, 1] in `step()`, and the space declares more. Confirm: look for the clip, and
       compare with `action_space`.
    2. Only the sign of the action is used. Confirm: play 0.1 and 1.0 of the bound and compare.
    3. It is scaled before a squashing function. Confirm: look for a tanh on the raw action.

    ## What to try first
    Declare the range that has an effect.

    ## When it is fine
    A switch that is meant to be one. A discrete action says that more plainly.

    ## References
    Stable-Baselines3, *Reinforcement learning tips and tricks*.
    """

    code: ClassVar[str] = "ENV021"
    name: ClassVar[str] = "action-range-saturates"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvContract"

    share: float = 0.25  # of the range: what has an effect

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        found = [each for each in evidence.saturated if each.share <= self.share]
        for each in found[:1]:
            more = f"; so do {len(found) - 1} others" if len(found) > 1 else ""
            yield self.finding(
                f"{each.part} saturates early in its range",
                where=evidence.where,
                seen=f"beyond {each.share:.0%} of its range from {each.low:.4g} to {each.high:.4g} nothing "
                f"changes{more}",
                expected="an effect over the whole declared range",
                help="declare in action_space the range that has an effect",
                confidence=0.8,
            )
