"""The policy is the same for every observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyIgnoresObservation(Rule):
    """The policy learns, but is the same for every observation.

    ## What it checks
    How much the policy differs between the rows of a batch: not at all, to the last digit, in the second half of the
    run, while its entropy has moved (so it does learn) and has not collapsed, and while the observations differ.

    ## Why it matters
    The best policy that does not look is a fixed lottery over actions. Nothing in the loss curve tells it apart from a
    hard task.

    ## Likely causes
    1. The network is fed something else: zeros, a constant, the same row for all. Confirm: print the network's input
       for two different observations.
    2. A layer lets nothing through: a softmax over a single unit, a normalisation over an axis of length 1, rectifiers
       that are all off. Confirm: find the first layer whose output is the same for all rows (table `layers`, std 0).
    3. Only the bias of the last layer is trained. Confirm: the table `parameters` shows steps for biases alone.

    ## What to try first
    Print `policy(obs)` for two different observations.

    ## When it is fine
    A bandit whose observation carries noise on purpose and whose network ignores it by design.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments with an observation-dependent reward).
    """

    code: ClassVar[str] = "POL010"
    name: ClassVar[str] = "policy-ignores-observation"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/obs_dependence", "policy/entropy", "obs/std", "obs/constant")
    follows: ClassVar[tuple[str, ...]] = (
        "NET003",
        "NET004",
        "NET005",
        "NRM003",
    )
    aftermath: ClassVar[bool] = True

    dependence: float = 1e-6  # spread between rows, of a probability or of a mean action
    moved: float = 0.01  # nats by which the entropy must have changed
    readings: int = 6  # in the second half of the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        dependence = evidence["policy/obs_dependence"].finite.tail(0.5)
        if len(dependence) < self.readings:
            raise NotEnough(f"{len(dependence)} readings in the second half of the run, needs {self.readings}")
        if dependence.max() > self.dependence:
            return
        if evidence["obs/constant"].max() > 0.999 or not evidence["obs/std"].min() > 0:
            return  # there is nothing to depend on
        entropy = evidence["policy/entropy"].finite
        relative = evidence["policy/entropy_rel"].finite.tail(0.5)
        if np.ptp(entropy.value) < self.moved or (len(relative) and relative.median() < 0.05):
            return
        yield self.finding(
            "the policy is the same for every observation",
            where=replace(
                evidence.call("update"), update=int(dependence.update[0]), env_step=int(dependence.env_step[0])
            ),
            seen=f"spread between rows at most {dependence.max():.0e} in {len(dependence)} updates of the second half, "
            f"while the entropy moved by {np.ptp(entropy.value):.2g} nats and observations differ",
            expected="above 1e-3 once the policy has moved",
            help="print policy(obs) for two different observations, and find the first layer that gives both the same",
            confidence=0.9,
        )
