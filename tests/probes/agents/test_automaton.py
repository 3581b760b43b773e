from itertools import pairwise

import gymnasium as gym
import pytest

from rldebug.probes.agents.automaton import Cyclic, Sticky, Written


def test_cyclic_goes_through_all_actions():
    agent = Cyclic(gym.spaces.Discrete(3))
    assert [int(agent.act(None, {}, t)) for t in range(5)] == [0, 1, 2, 0, 1]
    assert agent.act(None, {"action_mask": [0, 0, 1]}, 0) == 2


def test_sticky_stays_for_a_while_and_draws_anew_in_a_new_episode():
    agent = Sticky(gym.spaces.Discrete(1000), seed=0, stay=10.0)
    actions = [int(agent.act(None, {}, t)) for t in range(1000)]
    changes = sum(one != other for one, other in pairwise(actions))
    assert 60 < changes < 140
    assert len({int(agent.act(None, {}, 0)) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda obs: obs + 1, 11),
        (lambda obs, t: obs + t, 13),
        (lambda obs, gain=5: obs * gain, 50),
        (lambda *everything: len(everything), 1),
    ],
    ids=["observation", "observation and time", "with a default", "any number"],
)
def test_written_hands_over_what_the_function_takes(function, expected):
    assert Written(function).act(10, {}, 3) == expected


def test_written_bears_the_name_of_the_function():
    def hover(obs):
        return 0

    assert Written(hover).name == "hover"


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="obs -> action"):
        Written(3)
