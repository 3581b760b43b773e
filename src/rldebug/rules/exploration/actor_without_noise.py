"""An actor without randomness of its own is executed without noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by
from rldebug.forensics.worlds import learns_online
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorWithoutNoise(Rule):
    """An actor is executed without noise, or at its mean, while it learns.

    ## What it checks
    An actor that learns through a critic is asked for an action, and exactly that action is executed: as it is,
    squashed or stretched to the bounds, in every step that was looked at in the environment that is learned from.
    Exact.

    ## Why it matters
    Nothing is tried but what the actor holds best already: the critic never learns what other actions are worth.

    ## Likely causes
    1. The noise is not added, or is added to something else than what is executed. Confirm: print both.
    2. Of a stochastic policy the mean is executed, as in a test. Confirm: read which of its outputs is given to `step`.
    3. The noise has decayed to zero already. Confirm: print its scale.

    ## What to try first
    Add noise to the action that is executed, and store that action; of a stochastic policy execute the sample.

    ## When it is fine
    Noise on the weights of the acting network; such a copy is another network and is not looked at.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "EXP370"
    name: ClassVar[str] = "actor-without-noise"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 24  # that must be there
    audits: int = 2  # in which it was seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not learns_online(evidence):
            raise NotEnough("no step was learned from that was taken after the first update")
        found = [each for each in executed_by(evidence) if len(each) >= self.steps]
        found = [each for each in found if len(np.unique(each.audit)) >= self.audits]
        if not found:
            raise NotEnough(f"no actor was seen to act in {self.steps} steps of {self.audits} audits")
        if any("Noisy" in layer for thing in evidence.modules.values() for layer in thing.get("layers") or {}):
            return
        for each in found:
            off = np.abs(each.noise).max(axis=1) <= 1e-5 * (1 + np.abs(each.action).max(axis=1))
            if not each.itself and off.mean() > 0.98 and float(np.ptp(each.action)) > 0:
                what = "its mean" if each.drawn else "its own action"
                yield self.finding(
                    f"{each.module} acts without noise: {what} is executed",
                    where=each.where,
                    seen=f"its output ({each.way}) is executed in {int(off.sum())} of {len(each)} steps",
                    expected="a sample" if each.drawn else "its action, with noise",
                    help="execute the sample of the policy" if each.drawn else "add noise to the action before step()",
                    confidence=0.92,
                )
                return
