import gymnasium as gym
import numpy as np

from rldebug.rules.preprocessing.observation_unlike_its_space import ObservationUnlikeItsSpace
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Grey(gym.ObservationWrapper):
    def __init__(self, env, drop):
        super().__init__(env)
        self.drop = drop

    def observation(self, obs):
        return obs[:-1] if self.drop else obs


def store(drop):
    env = Grey(gym.make("CartPole-v1"), drop)
    memory = np.zeros((10, *env.observation_space.shape))
    obs, _ = env.reset(seed=0)
    memory[0] = obs
    memory[1] = np.zeros(7)


def test_fires_when_a_wrapper_changes_the_observation_without_its_space():
    names(ObservationUnlikeItsSpace(), crashed(lambda: store(drop=True)))


def test_quiet_when_no_observation_of_that_shape_is_declared():
    def program():
        memory = np.zeros((10, 4))
        memory[0] = np.zeros(3)

    quiet(ObservationUnlikeItsSpace(), crashed(program))
