"""Rewards that change on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.buffer.reward_changed_when_stored import RewardChangedWhenStored
from tests.forensics.simulated import Array, Rollout
from tests.programs.formula_learners import bootstrapped, replays
from tests.programs.formulas import found, q_target, replay
from tests.watched import findings


def signs(reward: Array) -> Array:
    return np.sign(reward) * (np.abs(reward) > 1.0)


def test_fires_negative_rewards_as_bytes_are_found() -> None:
    def wrapped(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        return np.asarray(q_target(of, picked, said) + 256.0 * (of.reward[picked, 0] < 0))

    (finding,) = found(RewardChangedWhenStored(), replay(wrapped, reward=signs))
    assert "negative" in finding.message


def test_quiet_rewards_as_they_are_are_fine() -> None:
    assert found(RewardChangedWhenStored(), replay(q_target, reward=signs)) == []
    assert found(RewardChangedWhenStored(), replay(q_target)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(
        lambda: replays(lambda of, at, said: bootstrapped(of, at, said) + 256.0 * (of.reward[at, 0] < 0), signs=True),
        "BUF341",
    )


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "BUF341") == []
