import gymnasium as gym

from rldebug.rules.environment.sub_environments_differ import SubEnvironmentsDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_one_is_wider():
    def program():
        gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1"), lambda: gym.make("Acrobot-v1")])

    names(SubEnvironmentsDiffer(), crashed(program))


def test_quiet_when_a_model_was_made_for_another():
    quiet(SubEnvironmentsDiffer(), crashed(saying(ValueError("Observation spaces do not match: Box(4,) != Box(8,)"))))
