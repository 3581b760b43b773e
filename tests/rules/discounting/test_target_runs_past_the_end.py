"""Targets that go on past the end of an episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.target_runs_past_the_end import TargetRunsPastTheEnd
from tests.forensics.simulated import Array, Rollout, gae, returns
from tests.programs.formula_learners import replays
from tests.programs.formulas import found, on_policy, q_target, replay
from tests.watched import findings


def test_fires_a_critic_without_a_mask_is_found() -> None:
    for kind in ("none", "value"):
        (finding,) = found(TargetRunsPastTheEnd(), on_policy(lambda of, kind=kind: gae(of, mask=kind)))  # type: ignore[misc]
        assert "past the end" in finding.message
        assert finding.where.line == 7


def test_fires_where_the_value_of_the_last_state_itself_is_added() -> None:
    """A variable that still holds the value of the step, handed over in place of zero."""

    def stale(of: Rollout) -> Array:
        return np.asarray(gae(of, lam=1.0) + 0.97 * of.value[: len(of.reward)] * (of.done & ~of.truncated))

    (finding,) = found(TargetRunsPastTheEnd(), on_policy(lambda of: stale_back(of, stale)))
    assert "the last state" in finding.seen


def stale_back(of: Rollout, ends: Any) -> Array:
    """Discounted returns from what each episode ends with."""
    target, fixed = gae(of, lam=1.0), ends(of)
    for t in reversed(range(len(target))):
        target[t] = np.where(of.done[t], fixed[t], target[t])
        if t + 1 < len(target):
            target[t] = np.where(of.done[t], target[t], of.reward[t] + 0.97 * target[t + 1])
    return target


def test_fires_returns_that_are_not_reset_are_found() -> None:
    (finding,) = found(TargetRunsPastTheEnd(), on_policy(None, lambda of: returns(of, reset=False)))
    assert "return" in finding.message


def test_fires_q_without_a_mask_is_found() -> None:
    def unmasked(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        return np.asarray(of.reward[picked, 0] + 0.97 * said["q0"].max(axis=1))

    assert len(found(TargetRunsPastTheEnd(), replay(unmasked))) == 1


def test_quiet_masked_targets_are_fine() -> None:
    rule = TargetRunsPastTheEnd()
    assert found(rule, on_policy(gae)) == []
    assert found(rule, on_policy(None, returns)) == []
    assert found(rule, replay(q_target)) == []


def test_quiet_bootstrapping_at_a_time_limit_is_fine() -> None:
    assert found(TargetRunsPastTheEnd(), on_policy(lambda of: gae(of, truncation="zero"))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: replays(lambda of, at, said: of.reward[at, 0] + 0.97 * said["q0"].max(axis=1)), "DIS300")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "DIS300") == []
