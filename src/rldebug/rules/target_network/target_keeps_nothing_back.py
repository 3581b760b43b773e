"""The target network equals the trained network at every update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import Follower, followers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetKeepsNothingBack(Rule):
    """The target network does not lag behind the trained one.

    ## What it checks
    How often and how far the target network is moved to the network it stands for. It is copied whole at every step of
    the optimizer; or it is moved by more than half of the way at every step, where 0.001 to 0.1 is usual.

    ## Why it matters
    A target network is there to hold still. If it moves with every step, targets chase the predictions that are fitted
    to them, and values can run away.

    ## Likely causes
    1. The interval between copies is 1, or the check of the interval is always true. Confirm: print in that branch.
    2. The weights of the average are swapped: `tau * target + (1 - tau) * online`. Confirm: with tau at 0.005 nearly
       all must come from the target itself.
    3. tau is 1, a value that was meant for copies at intervals. Confirm: print tau.

    ## What to try first
    Print how often the weights are copied, and tau.

    ## When it is fine
    Methods that mean to go without a target network have no need to copy one.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*. Lillicrap et al., *Continuous control
    with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT302"
    name: ClassVar[str] = "target-keeps-nothing-back"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"

    loads: int = 30  # whole copies, at least
    every: float = 0.9  # copies for each step of the optimizer
    taus: int = 4  # moves that were seen one by one
    share: float = 0.5  # of the way, from which a move is no lag
    audits: int = 2  # in which moves were seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = followers(evidence)
        if not found:
            raise NotEnough("no target network was seen")
        for each in found:
            yield from self._loaded(each)
            yield from self._moved(evidence, each)

    def _loaded(self, each: Follower) -> Iterator[Finding]:
        if each.whole < self.loads or each.whole < self.every * each.steps:
            return
        # Copies in bursts, at the end of a rollout's many updates, would be rarer than steps: so these are one by one.
        gaps = np.diff([at for at in each.loads if at > 0])
        if not len(gaps) or np.median(gaps) > max(1.0, 1.1 * each.updates[-1] / max(each.steps, 1)):
            return
        yield self._finding(
            each, f"copied whole {each.whole} times in {each.steps} steps of the optimizer of {each.online}"
        )

    def _moved(self, script: Script, each: Follower) -> Iterator[Finding]:
        events = [one for one in each.copies if one.get("tau") is not None and (one.get("updates") or 0) <= 3]
        taus = np.array([float(one["tau"]) for one in events])
        if len(taus) < self.taus or not (taus > self.share).mean() > 0.9 or np.median(taus) > 1.05:
            return
        orders = {id(one) for one in events}
        looked = sum(any(id(one) in orders for one in audit.of("copy")) for audit in script.audits)
        # Looks are taken before the first eight steps of an audit, of whichever optimizer: at one in three of its own
        # it must have moved, in all audits. Whole copies at intervals fall into some of them, and are alone there.
        counts = [len(self._steps(script, each, audit.of("step")[:8])) for audit in script.audits]
        steps = sum(max(1, count - 1) for count in counts if count)
        if looked < self.audits or len(taus) < 0.3 * steps:
            return
        yield self._finding(
            each, f"moved by {np.median(taus):.3g} of the way at each of {len(taus)} steps that were seen"
        )

    def _steps(self, script: Script, each: Follower, steps: list[Event]) -> list[Event]:
        owners = script.modules[each.online].get("owners") or {}
        return [one for one in steps if one["optimizer"] in owners]

    def _finding(self, each: Follower, seen: str) -> Finding:
        line = each.line
        return self.finding(
            f"the target network {each.target} does not lag behind {each.online}",
            where=Where(file=line[0], line=line[1], update=each.updates[0]) if line else Where(update=each.updates[0]),
            seen=seen,
            expected="a copy every few hundred steps, or a move by 0.001 to 0.1 of the way at each",
            help="print how often the target is updated; with tau at 0.005 it is 0.995 * target + 0.005 * online",
            confidence=0.9,
        )
