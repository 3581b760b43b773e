"""The target network moves too slowly to matter in this run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import followers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetHardlyFollows(Rule):
    """The target network moves too slowly to matter in this run.

    ## What it checks
    The share of the way by which the target network is moved at each update, measured on the weights, times the number
    of updates of the whole run: less than a quarter, after some hundred updates.

    ## Why it matters
    Most of what targets are made of is the guess of an untrained network, to the end.

    ## Likely causes
    1. tau has a zero too many, or was taken from a task with a hundred times more updates. Confirm: compare 1 / tau
       with the number of updates.
    2. tau is applied twice, once in a setting and once in the helper. Confirm: the measured share against the setting.

    ## What to try first
    A tau of 0.005 or more.

    ## When it is fine
    A run that is cut short on purpose. Shares of 0.0005 and more are never reported.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT303"
    name: ClassVar[str] = "target-hardly-follows"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    tau: float = 5e-4  # share of the way, below which it is slow
    way: float = 0.25  # that it has come in all, tau times updates
    steps: int = 150  # of the optimizer
    moves: int = 5  # that were seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = followers(evidence)
        if not found:
            raise NotEnough("no target network was seen")
        for each in found:
            taus = each.taus
            if len(taus) < self.moves or each.steps < self.steps or each.loaded or not len(each.distance):
                continue
            tau = float(np.median(taus))
            if not 0 < tau < self.tau or tau * each.steps > self.way or taus.max() > 20 * tau:
                continue
            line = each.line
            yield self.finding(
                f"the target network {each.target} hardly follows {each.online}",
                where=Where(file=line[0], line=line[1], update=each.updates[-1])
                if line
                else Where(update=each.updates[-1]),
                seen=f"moved by {tau:.2g} of the way at a time, {tau * each.steps:.0%} in {each.steps} updates; "
                f"{each.distance[-1]:.0%} of its norm apart in the end",
                expected=f"several times the whole way in a run: more than {3 / each.steps:.2g} at a time",
                help="set tau to 0.005 or more",
                confidence=0.85,
            )
            return
