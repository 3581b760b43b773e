"""The same rollout is handed over again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RolloutNeverChanges(Rule):
    """The same rollout comes back again and again.

    ## What it checks
    Observations and actions of consecutive rollouts are equal, bit for bit, although actions are drawn from a policy
    with enough randomness in it to make a repetition impossible.

    ## Why it matters
    The environment is stepped, but what it answered is not what the agent learns from.

    ## Likely causes
    1. Rows are appended to a list that is never cleared, and only its beginning is used. Confirm: print the list's
       length before it is stacked.
    2. The write index is not set back, or rows are written to a copy (`array[mask][i] = …` writes to a temporary).
       Confirm: change one row by hand and read it back.
    3. The random generators are seeded anew before every rollout. Confirm: search for `manual_seed` and `reset(seed=…)`
       inside the loop.

    ## What to try first
    Print the first observation and action of two consecutive rollouts.

    ## When it is fine
    A deterministic policy in a deterministic environment repeats itself: the rule looks only at policies that draw.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (check your buffering system).
    """

    code: ClassVar[str] = "BUF005"
    name: ClassVar[str] = "rollout-never-changes"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("rollout/fingerprint", "action/fingerprint")

    rollouts: int = 3  # equal ones in a row
    nats: float = 30.0  # of randomness in one rollout: entropy per action times actions

    def check(self, evidence: Run) -> Iterator[Finding]:
        obs, action = evidence["rollout/fingerprint"], evidence["action/fingerprint"]
        if len(obs) < self.rollouts + 1 or len(obs) != len(action):
            raise NotEnough(f"{len(obs)} rollouts, needs {self.rollouts + 1}")
        same = (obs.value[1:] == obs.value[:-1]) & (action.value[1:] == action.value[:-1])
        same &= np.diff(obs.env_step) > 0
        run_length, longest, end = 1, 1, 0
        for i, equal in enumerate(same):
            run_length = run_length + 1 if equal else 1
            if run_length > longest:
                longest, end = run_length, i + 1
        if longest < self.rollouts or not self._random(evidence):
            return
        start = end - longest + 1
        yield self.finding(
            "the same rollout is handed over again and again",
            where=replace(evidence.call("rollout"), update=int(obs.update[start]), env_step=int(obs.env_step[start])),
            seen=f"{longest} recorded rollouts in a row with equal observations and actions, from update "
            f"{obs.update[start]} to {obs.update[end]}, over {obs.env_step[end] - obs.env_step[start]} env steps",
            expected="other observations and actions in every rollout",
            help="clear the buffer, or set its write index back, before each rollout",
            confidence=0.97,
        )

    def _random(self, run: Run) -> bool:
        """Continuous actions drawn from a density never repeat; discrete ones do where there is little randomness."""
        if run["action/std"].median() > 0 and "rollout/logp_max" in run:
            return True
        entropy, steps = run["policy/entropy"].median(), run["rollout/steps"].median()
        return bool(entropy * steps >= self.nats)
