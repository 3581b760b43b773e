import gymnasium as gym
import numpy as np

from rldebug.rules.seeding.seed_refused import SeedRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_it_is_a_number_of_numpy():
    def program():
        gym.make("CartPole-v1").reset(seed=np.int64(3))

    names(SeedRefused(), crashed(program))


def test_fires_when_it_is_negative():
    def program():
        np.random.seed(-1)

    names(SeedRefused(), crashed(program))


def test_quiet_when_reset_takes_none():
    def program():
        def reset():
            return 0

        reset(seed=3)

    quiet(SeedRefused(), crashed(program))
