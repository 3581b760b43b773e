import gymnasium as gym
import numpy as np
import pytest

from rldebug.probes.agents.constant import Constant, bounds, constants, some_actions


@pytest.mark.parametrize(
    ("space", "names"),
    [
        (gym.spaces.Discrete(3, start=5), ["5", "6", "7"]),
        (gym.spaces.Box(-1, 1, (1,)), ["zero", "low", "high"]),
        (gym.spaces.Box(1, 3, (4,)), ["centre", "low", "high"]),
        (gym.spaces.Box(-1, 1, (2,)), ["zero", "low", "high", "(1, -1)", "(-1, 1)"]),
        (gym.spaces.MultiDiscrete([2, 2]), ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]),
        (gym.spaces.MultiDiscrete([9, 9]), ["(0, 0)", "(8, 8)"]),
        (gym.spaces.MultiBinary(2), ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]),
        (gym.spaces.Tuple([gym.spaces.Discrete(2)] * 2), ["draw 1", "draw 2"]),
    ],
    ids=["discrete", "box", "box beside zero", "plane", "multi-discrete", "many", "multi-binary", "tuple"],
)
def test_some_actions_of_a_space(space, names):
    found = some_actions(space)
    assert [name for name, _ in found] == names
    assert all(action in space for _, action in found)


def test_of_many_actions_a_few_are_taken_with_both_ends():
    found = [int(each.action) for each in constants(gym.spaces.Discrete(1000), most=5)]
    assert len(found) == 5
    assert (found[0], found[-1]) == (0, 999)


def test_infinite_bounds_are_replaced():
    space = gym.spaces.Box(np.array([-np.inf, 4.0, -np.inf]), np.array([np.inf, np.inf, 2.0]), dtype=np.float64)
    low, high = bounds(space)
    assert low.tolist() == [-1, 4, 0]
    assert high.tolist() == [1, 6, 2]


def test_an_environment_cannot_change_what_is_done_next():
    agent = Constant(np.zeros(2))
    agent.act(None, {}, 0)[:] = 7
    assert agent.act(None, {}, 1).tolist() == [0, 0]


def test_where_a_mask_forbids_it_another_is_drawn():
    agent = constants(gym.spaces.Discrete(3))[0]
    assert agent.name == "always 0"
    assert agent.act(None, {"action_mask": [0, 0, 1]}, 0) == 2
    assert agent.act(None, {"action_mask": [1, 0, 1]}, 0) == 0
