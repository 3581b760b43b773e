"""The sign of the entropy in a soft target."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.value_loss.entropy_subtracted_in_target import EntropySubtractedInTarget
from tests.forensics.simulated import Array, Rollout
from tests.programs.formula_learners import replays
from tests.programs.formulas import found, replay
from tests.rules.action_sampling.test_squashing_not_corrected import soft_actor_critic
from tests.watched import findings


def soft(of: Rollout, picked: Any, said: dict[str, Array], sign: float = -1.0) -> Array:
    following = np.minimum(said["q0"], said["q1"])[:, 0] + sign * 0.2 * said["logp"]
    return np.asarray(of.reward[picked, 0] + 0.98 * (1.0 - of.terminated[picked, 0]) * following)


def test_fires_the_wrong_sign_is_found() -> None:
    script = replay(lambda of, picked, said: soft(of, picked, said, 1.0), critics=2, actions=1)
    assert len(found(EntropySubtractedInTarget(), script)) == 1


def test_quiet_the_right_sign_is_fine() -> None:
    assert found(EntropySubtractedInTarget(), replay(soft, critics=2, actions=1)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: replays(lambda of, at, said: soft(of, at, said, 1.0), soft=True), "VAL363")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "VAL363") == []


def test_fires_where_the_value_of_the_state_is_learned() -> None:
    (finding,) = findings(lambda: soft_actor_critic("corrected", elements=2, of_state=True, sign=-1.0), "VAL363")
    assert "beside the value" in finding.seen


def test_quiet_where_the_value_of_the_state_is_learned_well() -> None:
    assert findings(lambda: soft_actor_critic("corrected", elements=2, of_state=True), "VAL363") == []
