import json
from dataclasses import dataclass
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.sizes import sizes_in
from tests.rules.crashes import crashed


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        ("The size of tensor a (64) must match the size of tensor b (5) at non-singleton dimension 1", [64, 5]),
        ("mat1 and mat2 shapes cannot be multiplied (32x3136 and 512x6)", [32, 3136, 512, 6]),
        ("operands could not be broadcast together with shapes (5,4) (128,)", [5, 4, 128]),
        ("shape '[-1, 5]' is invalid for input of size 12", [1, 5, 12]),
        ("Expected hidden[0] size (1, 32, 16), got [1, 8, 16]", [0, 1, 32, 16, 8]),
        ("einsum(): subscript i has size 3 for operand 1 which does not broadcast with previously seen size 2", [3, 2]),
        ("Expected parameter loc (Tensor of shape (7,)) of distribution Normal to satisfy the constraint Real()", []),
        ("CUDA out of memory. Tried to allocate 20.00 MiB", []),
    ],
)
def test_sizes_are_read_out_of_messages_about_shapes_alone(message, sizes):
    assert sizes_in(message) == sizes


def test_parameters_of_modules_and_of_two_together_are_told():
    class Agent:
        def __init__(self):
            self.actor, self.critic = nn.Linear(60, 20), nn.Linear(60, 31)

        def step(self):
            flat = torch.zeros(1220 + 1891)
            return flat + torch.zeros(1220)

    assert crashed(lambda: Agent().step()).sizes == {
        "3111": "the parameters of self.actor + self.critic (1220 + 1891)",
        "1220": "the parameters of self.actor",
    }


def test_the_parts_of_a_module_are_known_by_their_names():
    def program():
        ac = nn.ModuleDict({"pi": nn.Linear(60, 20), "v": nn.Linear(60, 31)})
        return ac, torch.zeros(3111) + torch.zeros(1891)

    assert crashed(program).sizes == {"3111": "the parameters of ac", "1891": "the parameters of ac.v"}


def test_settings_of_every_kind_are_told():
    @dataclass
    class Args:
        num_steps: int = 77

    def program():
        args, config, space = Args(), {"batch_size": 33}, SimpleNamespace(wide=44)
        shapes = torch.zeros(77), torch.zeros(33)
        return args, config, space, shapes[0] + shapes[1]

    assert crashed(program).sizes == {"77": "args.num_steps", "33": "config['batch_size']"}


def test_the_sizes_of_spaces_are_told_and_their_sum():
    def program():
        env = gym.make("Pendulum-v1")
        return env, nn.Linear(4, 8)(torch.zeros(2, 3))

    told = crashed(program).sizes
    assert told["3"] == "env.observation_space"
    assert told["4"] == "env.observation_space + env.action_space"


def test_the_number_of_environments_and_rows_are_told():
    def program():
        envs = gym.make_vec("CartPole-v1", num_envs=6, vectorization_mode="sync")
        n_steps = 50
        return envs, n_steps, np.zeros(300) + np.zeros(6)

    assert crashed(program).sizes == {"300": "envs.num_envs × n_steps", "6": "envs.num_envs"}


def test_counters_and_drawn_numbers_explain_nothing():
    def program():
        drawn = np.random.default_rng(0).integers(32, 33)
        done = int(drawn)
        for step in range(33):
            done = step
        total = 1
        total += 30
        return done, total, torch.zeros(32) + torch.zeros(31)

    assert crashed(program).sizes == {}


def test_a_size_that_many_things_have_is_not_explained():
    def program():
        hidden, window, horizon = 64, 64, 64
        return hidden, window, horizon, torch.zeros(64) + torch.zeros(5)

    assert crashed(program).sizes == {}


def test_an_error_that_is_not_about_shapes_has_none():
    def program():
        n_steps = 128
        raise ValueError(f"no level {n_steps}")

    assert crashed(program).sizes == {}


def test_nothing_of_the_program_is_run():
    class Proxy:
        def __getattr__(self, name):
            raise AssertionError(name)

        @property
        def size(self):
            raise AssertionError("size")

    def program():
        proxy, wide = Proxy(), 40
        return proxy, wide, torch.zeros(40) + torch.zeros(41)

    assert crashed(program).sizes == {"40": "wide"}


def test_a_crash_that_was_stored_before_sizes_were_told_is_still_read():
    stored = json.loads(json.dumps(crashed(lambda: torch.zeros(3) + torch.zeros(4)).to_dict()))
    del stored["sizes"], stored["nan"]
    assert Crash.from_dict(stored).sizes == {}
