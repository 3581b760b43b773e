import gymnasium as gym

from rldebug.rules.environment.reset_refuses_seed import ResetRefusesSeed
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Score(gym.Wrapper):
    def reset(self):
        return self.env.reset()


def test_fires_when_a_wrapper_takes_no_seed():
    names(ResetRefusesSeed(), crashed(lambda: Score(gym.make("CartPole-v1")).reset(seed=1)))


def test_quiet_when_another_function_takes_no_seed():
    def make():
        return None

    quiet(ResetRefusesSeed(), crashed(lambda: make(seed=1)))
