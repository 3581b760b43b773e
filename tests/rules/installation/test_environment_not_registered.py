import gymnasium as gym

from rldebug.rules.installation.environment_not_registered import EnvironmentNotRegistered
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_name_is_misspelt():
    assert "CartPole" in names(EnvironmentNotRegistered(), crashed(lambda: gym.make("CartPol-v1"))).help


def test_fires_when_the_version_is_gone():
    text = "Environment version v2 for `LunarLander` is deprecated. Please use `LunarLander-v3` instead."
    finding = names(EnvironmentNotRegistered(), crashed(saying(gym.error.DeprecatedEnv(text))))
    assert "LunarLander-v3" in finding.help


def test_quiet_when_the_package_is_missing():
    quiet(EnvironmentNotRegistered(), crashed(lambda: gym.make("NoSuchPackage/Pong-v5")))
