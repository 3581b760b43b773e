import gymnasium as gym

from rldebug.rules.environment.environment_of_another_kind import EnvironmentOfAnotherKind
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Plain:
    def reset(self):
        return 0

    def step(self, action):
        return 0, 0.0, False, {}


def test_fires_when_the_class_inherits_from_nothing():
    crash = crashed(lambda: gym.wrappers.TimeLimit(Plain(), 10))
    assert "Plain" in names(EnvironmentOfAnotherKind(), crash).message


def test_quiet_when_it_only_lacks_a_space():
    class Bare(gym.Env):
        pass

    quiet(EnvironmentOfAnotherKind(), crashed(lambda: gym.wrappers.PassiveEnvChecker(Bare())))
