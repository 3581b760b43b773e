import gymnasium as gym
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rldebug.rules.environment.autoreset_mode_refused import AutoresetModeRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_wrapper_refuses_the_mode():
    def wrap():
        envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
        gym.wrappers.vector.NormalizeObservation(envs)

    names(AutoresetModeRefused(), crashed(wrap))


def test_quiet_when_another_value_is_refused():
    quiet(AutoresetModeRefused(), crashed(saying(ValueError("Expected num_envs to be positive, got 0"))))
