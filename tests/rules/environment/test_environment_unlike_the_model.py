import gymnasium as gym

from rldebug.rules.environment.environment_unlike_the_model import EnvironmentUnlikeTheModel
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = "Observation spaces do not match: Box(4,) != Box(8,)"


def test_fires_when_the_spaces_differ():
    names(EnvironmentUnlikeTheModel(), crashed(saying(ValueError(TEXT))))


def test_quiet_when_the_environment_does_not_exist():
    quiet(EnvironmentUnlikeTheModel(), crashed(lambda: gym.make("CartPol-v1")))
