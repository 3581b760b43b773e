"""What checkers of environments say: M075–M078 and their relatives."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import PassiveEnvChecker

from tests.errors.cases import cases_in, check, raises
from tests.errors.worlds import Grid


@raises("M075 dtype", "ENV441", "float64", "astype(np.float32)", "Grid.step is at worlds.py:", warns=True)
def observation_of_another_dtype():
    PassiveEnvChecker(Grid(np.zeros(4))).reset()  # here


@raises("M075 bounds", "ENV441", "beyond the bounds", warns=True)
def observation_beyond_the_bounds():
    PassiveEnvChecker(Grid(np.full(4, 3, np.float32))).reset()  # here


@raises("M075 nan", "ENV441", "holds NaN", warns=True)
def observation_of_nan():
    PassiveEnvChecker(Grid(np.full(4, np.nan, np.float32))).reset()  # here


@raises("M075 shape", "ENV441", "(5,)", "(4,)", warns=True)
def observation_of_another_shape():
    PassiveEnvChecker(Grid(np.zeros(5, np.float32))).reset()  # here


@raises("M075 list", "ENV441", "list", "np.asarray", warns=True)
def observation_that_is_a_list():
    PassiveEnvChecker(Grid([0.0, 0.0, 0.0, 0.0])).reset()  # here


@raises("M075 check_env", "ENV441", "reset() returned")
def observation_refused_by_check_env():
    check_env(Grid(np.full(4, 2.0, np.float32)), skip_render_check=True)  # here


@raises("M076 nan", "ENV442", "NaN", "Grid.step is at worlds.py:", warns=True)
def reward_of_nan():
    env = PassiveEnvChecker(Grid(reward=float("nan")))
    env.reset()
    env.step(0)  # here


@raises("M076 array", "ENV442", "numpy.ndarray", "float(reward)", warns=True)
def reward_that_is_an_array():
    env = PassiveEnvChecker(Grid(reward=np.zeros(1)))
    env.reset()
    env.step(0)  # here


@raises("M076 tensor", "ENV442", "torch.Tensor", warns=True)
def reward_that_is_a_tensor():
    env = PassiveEnvChecker(Grid(reward=torch.tensor(1.0)))
    env.reset()
    env.step(0)  # here


class Noisy(Grid):
    def step(self, action):
        return np.random.uniform(-1, 1, 4).astype(np.float32), 0.0, False, False, {}


class Dice(Grid):
    def step(self, action):
        return self.obs, random.random(), False, False, {}


class Growing(Grid):
    steps = 0

    def step(self, action):
        self.steps += 1
        return np.full(4, 1 / self.steps, np.float32), 0.0, False, False, {}


class Unseeded(Grid):
    def reset(self, *, seed=None, options=None):
        return self.obs, {}


@raises("M078 numpy", "SEE440", "Noisy", "np.random.uniform at test_checkers.py:", "self.np_random", text_too=True)
def draws_from_the_generator_of_numpy():
    check_env(Noisy(), skip_render_check=True)  # here


@raises("M078 random", "SEE440", "Dice", "random.random at", "rewards")
def draws_from_the_generator_of_python():
    check_env(Dice(), skip_render_check=True)  # here


@raises("M078 state", "SEE440", "Growing", "everything that step() changes")
def state_that_is_not_reset():
    check_env(Growing(), skip_render_check=True)  # here


@raises("X424 super", "SEE440", "Unseeded", "super().reset(seed=seed)")
def reset_without_super():
    check_env(Unseeded(), skip_render_check=True)  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
