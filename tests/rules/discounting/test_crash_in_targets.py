import gymnasium as gym
import numpy as np

from rldebug.rules.discounting.crash_in_targets import CrashInTargets
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_numpy_refuses_the_sum():
    def program():
        rewards, following = np.zeros(5), np.zeros(5)
        return np.add(rewards, following, casting="never")

    names(CrashInTargets(), crashed(program))


def test_quiet_when_it_happens_in_the_environment():
    class Env(gym.Env):
        action_space = gym.spaces.Discrete(2)

        def step(self, action):
            left, right = np.zeros(5), np.zeros(7)
            return left + right

    quiet(CrashInTargets(), crashed(lambda: Env().step(0)))
