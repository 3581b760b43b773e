import gymnasium as gym
import numpy as np
import pytest

from rldebug.probes.agents.tabular import Tabular, bins, can_learn


def learned(reward):
    """Ten thousand steps of a corridor: state 0 … 4, actions left and right."""
    space = gym.spaces.Discrete(5)
    agent = Tabular(space, gym.spaces.Discrete(2), edges=bins(np.arange(5.0)[:, None]), steps=5000)
    state = t = 0
    for _ in range(5000):
        action = agent.act(state, {}, t)
        after = min(max(state + 2 * int(action) - 1, 0), 4)
        over = after == 4
        agent.observe(state, action, reward(after), after, over)
        state, t = (0, 0) if over else (after, t + 1)
    agent.greedy = True
    return [int(agent.act(state, {}, 0)) for state in range(4)]


def test_it_learns_the_way_to_a_reward():
    assert learned(lambda after: float(after == 4)) == [1, 1, 1, 1]


def test_it_learns_to_stay_away():
    assert learned(lambda after: -1.0 if after == 4 else 0.0)[3] == 0


def test_greedy_it_learns_no_more():
    agent = Tabular(gym.spaces.Discrete(2), gym.spaces.Discrete(2), edges=bins(np.array([[0.0], [1.0]])))
    agent.greedy = True
    agent.observe(0, agent.act(0, {}, 0), 5.0, 1, True)
    assert not agent.values


def test_an_array_that_is_written_to_again_does_not_confuse_it():
    obs = np.array([0.0])
    agent = Tabular(gym.spaces.Box(0, 1, (1,)), gym.spaces.Discrete(2), edges=[np.array([0.5])])
    action = agent.act(obs, {}, 0)
    obs[0] = 1.0
    agent.observe(obs, action, 3.0, obs, True)
    assert agent.values[0,][int(action)] == 3.0
    assert not agent.values[1,].any()


def test_it_keeps_to_a_mask():
    agent = Tabular(gym.spaces.Discrete(1), gym.spaces.Discrete(3), edges=[np.array([0.0])])
    assert {int(agent.act(0, {"action_mask": [0, 1, 0]}, 0)) for _ in range(20)} == {1}


def test_few_values_have_a_bin_each_and_many_share_them():
    seen = np.stack([np.arange(1000) % 3, np.linspace(0, 1, 1000)], axis=1)
    few, many = bins(seen)
    assert few.tolist() == [0, 1, 2]
    assert 10 < len(many) < 20


@pytest.mark.parametrize(
    "seen",
    [np.random.default_rng(0).normal(size=(500, 20)), np.array([[np.nan]]), np.zeros((0, 2))],
    ids=["wide", "not a number", "nothing"],
)
def test_there_are_no_bins_where_a_table_makes_no_sense(seen):
    assert bins(seen) is None


def test_too_many_actions_are_named():
    assert can_learn(gym.spaces.Discrete(4)) == ""
    assert can_learn(gym.spaces.Discrete(400)) == "400 actions"
    assert can_learn(gym.spaces.Box(-1, 1, (17,))) == "17 action dimensions"
