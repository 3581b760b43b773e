import gymnasium as gym

from rldebug.rules.environment.crash_in_environment import CrashInEnvironment
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Env(gym.Env):
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 1 // (action - action)


def test_fires_when_a_step_raises():
    finding = names(CrashInEnvironment(), crashed(lambda: Env().step(1)))
    assert "ZeroDivisionError" in finding.seen


def test_fires_when_a_hand_made_environment_raises():
    class World:
        def reset(self):
            return 0

        def step(self, move):
            return 1 / 0

    names(CrashInEnvironment(), crashed(lambda: World().step(1)))


def test_quiet_when_the_action_is_at_fault():
    quiet(CrashInEnvironment(), crashed(lambda: Env().step(5)))
