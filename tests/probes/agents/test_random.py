import gymnasium as gym
import numpy as np

from rldebug.probes.agents.random import Random, allowed, masked_sample


def test_the_same_seed_draws_the_same_and_leaves_the_space_alone():
    space = gym.spaces.Discrete(100, seed=5)
    beside = gym.spaces.Discrete(100, seed=5)
    one, other = Random(space, 3), Random(space, 3)
    assert [one.act(None, {}, t) for t in range(20)] == [other.act(None, {}, t) for t in range(20)]
    assert space.sample() == beside.sample()


def test_a_mask_is_honoured():
    space = gym.spaces.Discrete(4, seed=0)
    for mask in ([False, True, False, True], np.array([0, 1, 0, 1], np.int8)):
        assert {int(masked_sample(space, {"action_mask": mask})) for _ in range(40)} == {1, 3}


def test_a_mask_of_several_parts_is_honoured():
    space = gym.spaces.MultiDiscrete([2, 3], seed=0)
    mask = (np.array([0, 1]), np.array([1, 0, 0]))
    assert {tuple(masked_sample(space, {"action_mask": mask}).tolist()) for _ in range(20)} == {(1, 0)}


def test_a_mask_that_does_not_fit_or_forbids_all_is_no_mask():
    space = gym.spaces.Discrete(3, seed=0)
    for mask in ([True] * 7, [False] * 3, "left"):
        assert masked_sample(space, {"action_mask": mask}) in space


def test_allowed():
    assert allowed(1, {"action_mask": [0, 1]})
    assert not allowed(0, {"action_mask": [0, 1]})
    assert allowed(0, {})
    assert allowed(np.zeros(2), {"action_mask": [0, 1]})
