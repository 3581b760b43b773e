import gymnasium as gym

from rldebug.rules.environment.stepped_without_reset import SteppedWithoutReset
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_there_is_no_reset_before_the_loop():
    names(SteppedWithoutReset(), crashed(lambda: gym.make("CartPole-v1").step(0)))


def test_quiet_when_the_action_is_refused():
    def program():
        env = gym.make("CartPole-v1")
        env.reset(seed=0)
        env.step(9)

    quiet(SteppedWithoutReset(), crashed(program))
