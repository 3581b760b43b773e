"""The last step of a rollout, that the recursion of the advantage leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.advantage.last_step_left_out import LastStepLeftOut
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def one_short(of: Any) -> Any:
    """The loop begins at the last step but one: there the sum is 0 so far, and so the advantage after it."""
    gamma, lam = 0.97, 0.9
    target, carry = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    reward = of.reward + gamma * of.final * of.truncated
    target[-1] = of.value[len(of.reward) - 1]
    for t in reversed(range(len(of.reward) - 1)):
        left = 1.0 - of.done[t]
        carry = reward[t] + gamma * of.value[t + 1] * left - of.value[t] + gamma * lam * left * carry
        target[t] = carry + of.value[t]
    return target


def test_fires_on_a_loop_that_starts_one_step_early() -> None:
    (finding,) = found(LastStepLeftOut(), on_policy(one_short, times=8))
    assert finding.severity == "warning"
    assert finding.component == "advantage"


def test_fires_as_a_note_where_rollouts_are_long() -> None:
    (finding,) = found(LastStepLeftOut(), on_policy(one_short, times=128))
    assert finding.severity == "note"


def test_quiet_where_the_last_step_is_bootstrapped() -> None:
    assert found(LastStepLeftOut(), on_policy(gae, times=8)) == []


def test_quiet_where_the_rollout_is_not_bootstrapped_which_is_another_fault() -> None:
    assert found(LastStepLeftOut(), on_policy(lambda of: gae(of, bootstrap="zero"), times=8)) == []


def test_fires_where_the_last_step_of_episodes_has_no_advantage() -> None:
    (finding,) = found(
        LastStepLeftOut(), on_policy(lambda of: np.where(of.terminated, of.value[:-1], gae(of)), times=128)
    )
    assert finding.severity == "warning"
    assert "episode" in finding.message
