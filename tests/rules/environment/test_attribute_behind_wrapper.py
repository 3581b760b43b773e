import gymnasium as gym

from rldebug.rules.environment.attribute_behind_wrapper import AttributeBehindWrapper
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_environment_inside_has_it():
    env = gym.make("CartPole-v1")
    assert "unwrapped.gravity" in names(AttributeBehindWrapper(), crashed(lambda: env.gravity)).help


def test_fires_when_seed_is_called():
    env = gym.make("CartPole-v1")
    assert "reset(seed=seed)" in names(AttributeBehindWrapper(), crashed(lambda: env.seed(1))).help


def test_quiet_when_the_environment_itself_lacks_it():
    env = gym.make("CartPole-v1").unwrapped
    quiet(AttributeBehindWrapper(), crashed(lambda: env.colour))


def test_quiet_when_a_list_lacks_it():
    quiet(AttributeBehindWrapper(), crashed(lambda: [].shape))
