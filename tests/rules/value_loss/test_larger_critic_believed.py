"""Two critics, and which one is believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.value_loss.larger_critic_believed import LargerCriticBelieved
from tests.forensics.simulated import Array, Rollout
from tests.programs.formula_learners import replays
from tests.programs.formulas import found, replay
from tests.watched import findings


def twin(of: Rollout, picked: Any, said: dict[str, Array], largest: bool = False) -> Array:
    one, two = said["q0"][:, 0], said["q1"][:, 0]
    following = np.maximum(one, two) if largest else np.minimum(one, two)
    return np.asarray(of.reward[picked, 0] + 0.98 * (1.0 - of.terminated[picked, 0]) * following)


def test_fires_the_larger_of_two_is_found() -> None:
    script = replay(lambda of, picked, said: twin(of, picked, said, largest=True), critics=2, actions=1)
    assert len(found(LargerCriticBelieved(), script)) == 1


def test_quiet_the_smaller_of_two_is_fine() -> None:
    assert found(LargerCriticBelieved(), replay(twin, critics=2, actions=1)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: replays(lambda of, at, said: twin(of, at, said, largest=True), soft=True), "VAL362")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "VAL362") == []
