import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from rldebug.rules.environment.observation_refused import ObservationRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


class Narrow(gym.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.full(2, 5, np.float32), {}


def test_fires_when_a_number_is_beyond_the_bounds():
    names(ObservationRefused(), crashed(lambda: check_env(Narrow(), skip_render_check=True)))


def test_fires_on_the_words_of_the_checker_of_stable_baselines3():
    text = (
        "The observation returned by the `reset()` method does not match the given observation space Box(-1, 1, (2,))"
    )
    names(ObservationRefused(), crashed(saying(AssertionError(text))))


def test_quiet_when_the_reward_is_refused():
    quiet(ObservationRefused(), crashed(saying(UserWarning("The reward is a NaN value."))))
