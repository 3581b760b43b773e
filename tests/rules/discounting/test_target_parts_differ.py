import gymnasium as gym
import numpy as np

from rldebug.rules.discounting.target_parts_differ import TargetPartsDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_rewards_and_next_values_have_other_lengths():
    def program():
        rewards, following = np.zeros(5), np.zeros(7)
        return rewards + 0.99 * following

    names(TargetPartsDiffer(), crashed(program))


def test_quiet_when_it_happens_in_the_environment():
    def program():
        class Env(gym.Env):
            action_space = gym.spaces.Discrete(2)

            def step(self, action):
                left, right = np.zeros(5), np.zeros(7)
                return left + right

        Env().step(0)

    quiet(TargetPartsDiffer(), crashed(program))
