"""Sub-environments of a vector are copies of one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EnvsInLockstep(Rule):
    """Sub-environments of a vector run in lockstep: same in, same out.

    ## What it checks
    Neighbouring environments have equal observations, equal rewards and equal actions at every step of rollout after
    rollout, bit for bit, although actions are drawn at random.

    ## Why it matters
    A batch of eight copies is a batch of one: the gradient is as noisy as with a single environment, and everything
    measured over the batch looks eight times as certain as it is.

    ## Likely causes
    1. All environments get the same seed, and all the same action. Confirm: print the first observations of two
       environments, then their first actions.
    2. The random generator is seeded anew before the action of each environment is drawn. Confirm: search for
       `manual_seed` in the acting code.
    3. One action is drawn and sent to all. Confirm: print the shape of the actions as drawn.

    ## What to try first
    Reset the vector with one integer seed: it gives each environment a seed of its own.

    ## When it is fine
    Deterministic copies stepped on purpose, as in a test. Environments that do not depend on the action are left out.

    ## References
    hill-a/stable-baselines issue 675 (every environment got the last seed). Jones, *Debugging RL, Without the Agonizing
    Pain* (mixing of vectorised environments).
    """

    code: ClassVar[str] = "SEE001"
    name: ClassVar[str] = "envs-in-lockstep"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("rollout/lockstep", "rollout/lockstep_actions")

    share: float = 0.5  # of the environments that equal their neighbour
    persistence: float = 0.9  # share of the rollouts in which that many do
    nats: float = 30.0  # of randomness in the actions of one environment, over all rollouts seen
    steps: int = 8  # the fewest per rollout that the reading is taken for

    def check(self, evidence: Run) -> Iterator[Finding]:
        obs, action = evidence["rollout/lockstep"].finite, evidence["rollout/lockstep_actions"].finite
        if len(obs) != len(action) or not len(obs):
            raise NotEnough("no rollout of eight steps or more")
        nats = self._randomness(evidence, len(obs))
        alike = np.minimum(obs.value, action.value)
        hits = alike >= self.share
        if np.mean(hits) < self.persistence:
            return
        if not nats >= self.nats:
            raise NotEnough(f"{nats:.0f} nats of randomness in the actions so far, needs {self.nats:.0f}")
        place = obs.where(obs.at(hits) or 0)
        yield self.finding(
            "sub-environments run in lockstep",
            where=replace(evidence.call("rollout"), update=place.update, env_step=place.env_step),
            seen=f"{np.median(alike):.0%} of the environments equal their neighbour in observations, rewards and "
            f"actions at every step, in {hits.sum()} of {len(hits)} recorded rollouts",
            expected="environments that part within a few steps",
            help="give each environment its own seed, and draw one action per environment",
            confidence=0.97,
        )

    def _randomness(self, run: Run, rollouts: int) -> float:
        """A lower bound: drawn continuous actions never repeat; discrete ones have an entropy, or an ε."""
        if run["action/std"].median() > 0 and "rollout/logp_max" in run:
            return float("inf")
        per_action = run["policy/entropy"].median()
        if np.isnan(per_action):
            per_action = run["exploration/epsilon"].median() * np.log(2.0)
        return 0.0 if np.isnan(per_action) else per_action * self.steps * rollouts
