import gymnasium as gym
import numpy as np

from rldebug.rules.action_sampling.action_refused import ActionRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_value_is_sent_instead_of_an_index():
    def program():
        env = gym.make("CartPole-v1")
        env.reset(seed=0)
        env.step(7)

    finding = names(ActionRefused(), crashed(program))
    assert finding.expected == "an action of Discrete(2)"
    assert finding.where.file == __file__


class Garden(gym.Env):
    observation_space = gym.spaces.Box(0, 1, (2,))
    action_space = gym.spaces.Box(-1.0, 1.0, (2,))

    def __init__(self, broken=False):
        self.broken = broken

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        if self.broken:
            raise ValueError("the plants have died")
        assert self.action_space.contains(action), action
        return np.zeros(2, np.float32), 0.0, False, False, {}


def test_fires_when_a_continuous_action_is_not_clipped():
    names(ActionRefused(), crashed(lambda: Garden().step(np.array([1.5, 0.0], np.float32))))


def test_quiet_when_the_environment_fails_by_itself():
    quiet(ActionRefused(), crashed(lambda: Garden(broken=True).step(np.zeros(2))))


def test_quiet_when_it_was_never_reset():
    quiet(ActionRefused(), crashed(lambda: gym.make("CartPole-v1").step(7)))
