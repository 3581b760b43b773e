"""The observation never changes while episodes run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObsConstant(Rule):
    """The observation never changes while episodes run.

    ## What it checks
    In rollout after rollout the observation of each environment is the same at every step, bit for bit, although
    episodes are longer than one step. It is a warning where lengths vary, so that there is a state that changes, and a
    note where they do not.

    ## Why it matters
    The agent is blind: the best it can learn is one action for all states.

    ## Likely causes
    1. The loop goes on acting on the first observation: `obs = next_obs` is missing. Confirm: print the observation
       that the policy is given at two consecutive steps.
    2. The buffer for observations is never written, or only its first row. Confirm: `obs/std` is 0.
    3. A normalisation or clip maps every observation to the same values. Confirm: switch it off.

    ## What to try first
    Print the observation that goes into the policy at two consecutive steps.

    ## When it is fine
    Bandits and other tasks without a state. Episodes of one step are left out.

    ## References
    Tambon et al., *Mutation Testing of Deep Reinforcement Learning* (missing state update).
    """

    code: ClassVar[str] = "NRM003"
    name: ClassVar[str] = "obs-constant"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("obs/still",)

    readings: int = 3  # rollouts
    steps: int = 200  # in those rollouts together; an observation may change rarely

    def check(self, evidence: Run) -> Iterator[Finding]:
        still = evidence["obs/still"].finite
        if len(still) < self.readings:
            raise NotEnough(f"{len(still)} rollouts, needs {self.readings}")
        steps = len(still) * evidence["rollout/steps"].median()
        if steps < self.steps:
            raise NotEnough(f"{steps:.0f} steps in the rollouts looked at, needs {self.steps}")
        if still.min() < 1.0:
            return
        lengths = np.concatenate([evidence[name].finite.value for name in ("episode/length_min", "episode/length_max")])
        ends = evidence["rollout/terminated"].max()
        if (len(lengths) and lengths.max() <= 1) or ends == 1.0:
            return
        vary = len(lengths) > 0 and lengths.min() != lengths.max()
        yield self.finding(
            "the observation never changes",
            where=replace(evidence.call("rollout"), update=int(still.update[0]), env_step=int(still.env_step[0])),
            seen=f"the same observation at every step of {len(still)} recorded rollouts"
            + (f"; episodes last from {lengths.min():.0f} to {lengths.max():.0f} steps" if len(lengths) else ""),
            expected="an observation that changes from step to step",
            help="check that obs = next_obs follows env.step(), and that the buffer is written at every step",
            confidence=0.9 if vary else 0.6,
            severity="warning" if vary else "note",
        )
