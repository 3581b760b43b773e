import gymnasium as gym

from rldebug.rules.environment.space_not_declared import SpaceNotDeclared
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Bare(gym.Env):
    pass


def test_fires_when_the_class_sets_none():
    assert "Bare" in names(SpaceNotDeclared(), crashed(lambda: Bare().action_space)).message


def test_fires_when_a_wrapper_asks_for_it():
    names(SpaceNotDeclared(), crashed(lambda: gym.wrappers.PassiveEnvChecker(Bare())))


def test_quiet_when_another_attribute_is_asked_for():
    quiet(SpaceNotDeclared(), crashed(lambda: Bare().state))
