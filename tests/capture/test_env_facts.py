"""What an environment says of itself is read, and nothing in it is called."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from rldebug.capture.env_facts import attribute, autoreset_of, chain, facts_of, unwrapped


class Shy:
    """Asking it for anything it does not have is noticed."""

    def __init__(self):
        self.asked = []
        self.observation_space = gym.spaces.Discrete(5)

    def __getattr__(self, name):
        self.asked.append(name)
        return 3

    def __len__(self):
        raise RuntimeError

    @property
    def spec(self):
        raise RuntimeError


def test_nothing_is_called():
    env = Shy()
    facts = facts_of(env)
    assert (facts["id"], facts["obs_n"], facts["action_n"], facts["time_limit"]) == ("Shy", 5, None, None)
    assert attribute(env, "spec") is None
    assert unwrapped(env) is env
    assert env.asked == []


def test_made_environment():
    env = gym.make("Pendulum-v1", max_episode_steps=50)
    facts = facts_of(env)
    assert facts["wrappers"] == ["TimeLimit", "OrderEnforcing", "PassiveEnvChecker"]
    assert (facts["time_limit"], facts["registered_limit"], facts["class"]) == (50, 200, "PendulumEnv")
    assert (facts["action_low"], facts["action_high"], facts["action_shape"]) == ([-2.0], [2.0], [1])
    assert (facts["obs_shape"], facts["obs_dtype"], facts["obs_low"], facts["obs_high"]) == ([3], "float32", -8.0, 8.0)
    assert facts["defined"] is None  # not the user's
    assert facts_of(env.unwrapped)["time_limit"] is None


def test_the_outermost_space_and_the_shortest_limit_count():
    inner = gym.make("CartPole-v1")
    env = TimeLimit(gym.wrappers.TransformObservation(inner, lambda obs: obs[:2], gym.spaces.Box(0, 1, (2,))), 9)
    assert (facts_of(env)["obs_shape"], facts_of(env)["time_limit"]) == ([2], 9)


def test_vector_environment():
    env = gym.wrappers.vector.RecordEpisodeStatistics(SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2))
    facts = facts_of(env)
    assert (facts["id"], facts["obs_shape"], facts["action_n"], facts["time_limit"]) == ("CartPole-v1", [4], 2, 500)
    assert facts["wrappers"][:2] == ["RecordEpisodeStatistics", "SyncVectorEnv"]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_autoreset(mode):
    env = SyncVectorEnv([lambda: gym.make("CartPole-v1")], autoreset_mode=mode)
    assert autoreset_of(env) == mode.name.lower().replace("_", "-")
    assert autoreset_of(gym.make("CartPole-v1")) == "disabled"


def test_a_circle_ends():
    class Circle:
        def step(self, action):
            pass

    env = Circle()
    env.env = env
    assert len(list(chain(env))) == 64


def test_odd_spaces():
    class Odd:
        observation_space = np.zeros(3)
        action_space = "left or right"

    facts = facts_of(Odd())
    assert facts["action_n"] is None
    assert facts["obs_shape"] == [3]
