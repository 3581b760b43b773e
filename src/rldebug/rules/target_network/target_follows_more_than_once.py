"""The target network moves several times for one step of the critic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import Follower, followers
from rldebug.forensics.target_settings import told
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetFollowsMoreThanOnce(Rule):
    """The target network moves several times for one step of the critic.

    ## What it checks
    Between two steps of a critic's optimizer its target network is seen to move towards it more than once, again and
    again; or the share of the way that it moves at a time is exactly what two or three updates with the setting of tau
    would do.

    ## Why it matters
    The target follows two or three times as fast as the setting says: it damps less, and a tau that was tuned
    elsewhere means something else here.

    ## Likely causes
    1. The update of the target stands within the loop over parts of a batch, or over the critics. Confirm: count its
       calls for each step of the optimizer.
    2. It is called in the update of the critic and in that of the actor. Confirm: the same.

    ## What to try first
    Call it once, after the step of the optimizer.

    ## When it is fine
    Where tau was chosen for it.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    Seen in the wild: TGT-19 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "TGT374"
    name: ClassVar[str] = "target-follows-more-than-once"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"
    follows: ClassVar[tuple[str, ...]] = ("TGT302", "TGT370")

    times: int = 4  # that it was seen
    near: float = 2e-3  # relative, between what is computed and what the mistake gives

    def check(self, evidence: Script) -> Iterator[Finding]:
        regressed = {str(name) for _, term in evidence.terms("regression") for name in term.get("reached") or ()}
        found = [each for each in followers(evidence) if each.online in regressed and not each.loaded]
        if not found:
            raise NotEnough("no target network of a critic was seen to be moved little by little")
        for each in found:
            often, once = _between_steps(evidence, each)
            seen = ""
            if often >= self.times and often > 3 * once:
                seen = f"it moved more than once between two steps of {each.online}, {often} of {often + once} times"
            elif (count := self._as_if(evidence, each)) is not None:
                seen = (
                    f"each time by {float(np.median(each.taus)):.4g} of the way, as {count} updates with what is set do"
                )
            if seen:
                line = each.line
                yield self.finding(
                    f"the target network {each.target} follows {each.online} more than once a step",
                    where=Where(file=line[0], line=line[1]) if line else Where(),
                    seen=seen,
                    expected="one move for each step of the optimizer, or fewer",
                    help="update the target once, after the step of the optimizer",
                    confidence=0.85,
                )
                return

    def _as_if(self, script: Script, each: Follower) -> int | None:
        """How many updates with the setting make up one move that was seen."""
        tau, kept, taus = told(script, "tau"), told(script, "polyak"), each.taus
        tau = 1.0 - kept if tau is None and kept is not None else tau
        if tau is None or not 0.0 < tau <= 0.3 or len(taus) < self.times:
            return None
        for count in (2, 3, 4):
            expected = 1.0 - (1.0 - tau) ** count
            if (np.abs(taus - expected) < self.near * expected).mean() > 0.9:
                return count
        return None


def _between_steps(script: Script, each: Follower) -> tuple[int, int]:
    """Of the stretches between two steps of the critic: those with several moves of its target, and those with one.

    One that is larger than those of the others is not counted: it may be several that nobody looked in between.
    """
    several: list[list[float]] = []
    for audit in script.audits:
        moves = [(one.order, float(one.get("tau") or 0.0)) for one in each.copies if one in audit.events]
        for start, stop in _stretches(script, audit, each.online):
            several.append([tau for order, tau in moves if start < order < stop])
    often = [taus for taus in several if len(taus) > 1]
    usual = float(np.median([tau for taus in often for tau in taus])) if often else 0.0
    return len(often), sum(len(taus) == 1 and taus[0] < 1.5 * usual for taus in several)


def _stretches(script: Script, audit: Audit, online: str) -> Iterator[tuple[int, int]]:
    owners = script.modules.get(online, {}).get("owners") or {}
    steps = [one.order for one in audit.of("step") if one["optimizer"] in owners]
    yield from pairwise(steps)
