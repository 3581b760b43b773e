"""Entropy that is paid after the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.entropy_past_the_end import EntropyPastTheEnd
from tests.forensics.simulated import Array, Rollout
from tests.programs.formula_learners import replays
from tests.programs.formulas import found, replay
from tests.watched import findings


def soft(of: Rollout, picked: Any, said: dict[str, Array], masked: bool = True) -> Array:
    going = 1.0 - of.terminated[picked, 0]
    entropy = -0.2 * said["logp"]
    following = np.minimum(said["q0"], said["q1"])[:, 0] * going + entropy * (going if masked else 1.0)
    return np.asarray(of.reward[picked, 0] + 0.98 * following)


def test_fires_entropy_of_an_action_never_taken_is_found() -> None:
    script = replay(lambda of, picked, said: soft(of, picked, said, masked=False), critics=2, actions=1)
    assert len(found(EntropyPastTheEnd(), script)) == 1


def test_quiet_a_masked_soft_target_is_fine() -> None:
    assert found(EntropyPastTheEnd(), replay(soft, critics=2, actions=1)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: replays(lambda of, at, said: soft(of, at, said, masked=False), soft=True), "DIS310")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "DIS310") == []
