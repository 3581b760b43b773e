"""The reference algorithms in portions: the same run as in one go, and networks that answer."""

import threading

import numpy as np
import pytest
import torch

from rldebug.checkpoint import TrainingError
from rldebug.probes.agent import Factory
from rldebug.probes.shelf import find
from rldebug.stepwise import target

ALGORITHMS = ("a2c", "dqn", "ppo", "sac", "trpo", "vpg")


def made(algorithm, kind="observed-action-reward", seed=0, **changes):
    action = "continuous" if algorithm == "sac" else "discrete"
    factory = Factory(find(kind)(0.9), action=action)
    return target(algorithm, changes).make(factory, seed, frozenset()), factory


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_it_learns_in_portions_and_answers_in_between(algorithm):
    learner, factory = made(algorithm)
    obs = np.eye(2, dtype=np.float32)
    try:
        learner.learn(1)
        first = len(factory.log)
        assert first >= 1
        learner.learn(1)
        assert len(factory.log) > first
        if algorithm == "dqn":
            assert learner.q(obs).shape == (2, 2)
        else:
            assert learner.value(obs).shape == (2,)
            assert len(learner.policy(obs)) == 2
        assert learner.declared["gamma"] > 0
    finally:
        learner.close()


def test_portions_do_not_change_the_run():
    def after(*portions):
        torch.manual_seed(0)
        learner, factory = made("ppo")
        for portion in portions:
            learner.learn(portion)
        steps, value = len(factory.log), learner.value(np.eye(2, dtype=np.float32))
        learner.close()
        return steps, value

    (steps, whole), (same, parts) = after(512), after(128, 256, 128)
    assert steps == same
    assert torch.equal(whole, parts)


def test_closing_ends_the_thread():
    before = threading.active_count()
    learner, _ = made("ppo")
    assert threading.active_count() == before + 1
    learner.close()
    assert threading.active_count() == before


def test_what_it_cannot_be_built_for_is_raised_here():
    with pytest.raises(TrainingError, match="Discrete"):
        target("dqn").make(Factory(find("action-reward")(0.9), action="continuous"), 0, frozenset())


def test_changes_go_over_the_suited_settings():
    learner, _ = made("ppo", gamma=0.5)
    learner.close()
    assert learner.declared["gamma"] == 0.5


def test_a_normaliser_is_switched_on_where_it_is_wanted():
    wanted = target("ppo")
    assert {"normaliser", "frames"} <= wanted.abilities
    learner = wanted.make(Factory(find("observed-reward")(0.9), obs="offset"), 0, frozenset({"normaliser"}))
    learner.learn(256)
    shown = learner.value(np.array([[6000.0, 5000.0], [5000.0, 6000.0]], dtype=np.float32))
    learner.close()
    assert abs(float(shown[0] - shown[1])) > 0.1  # unnormalised, both saturate every unit alike
