import gymnasium as gym

from rldebug.rules.preprocessing.crash_in_preprocessing import CrashInPreprocessing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Shifted(gym.ObservationWrapper):
    def observation(self, obs):
        return obs.shift(1)


def test_fires_when_a_wrapper_of_observations_raises():
    names(CrashInPreprocessing(), crashed(lambda: Shifted(gym.make("CartPole-v1")).reset(seed=0)))


def test_quiet_when_the_environment_raises():
    class Env(gym.Env):
        def reset(self, *, seed=None, options=None):
            raise ValueError("no such level")

    quiet(CrashInPreprocessing(), crashed(lambda: Env().reset()))
