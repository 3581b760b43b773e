"""Settings are found where a loss is computed, in whatever style the program keeps them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from rldebug.capture.within_reach import AT_HAND, HELD, OF_MODULE, within_reach
from tests import wild

GAE_LAMBDA = 0.93


def found() -> dict[tuple[str, str], tuple[float, int]]:
    told = within_reach(sys._getframe(1))
    return {(name, holder): (value, how) for name, value, holder, how in told}


def test_variables_attributes_fields_and_constants_are_told_apart() -> None:
    @dataclass
    class Config:
        gamma: float = 0.98
        seed: int = 3

    class Settings(NamedTuple):
        gamma: float = 0.96

    class Agent:
        def __init__(self) -> None:
            self.ent_coef, self.config, self.table = 0.01, Config(), {"clip_range": 0.2, 7: 0.5}
            self.settings, self.pair = Settings(), (0.5, 0.6)

        def train(self) -> Any:
            gamma = torch.tensor(0.97, dtype=torch.float64)
            assert gamma
            return found()

    seen = Agent().train()
    assert seen["gamma", "train"] == (0.97, AT_HAND)
    assert seen["ent_coef", "Agent"] == (0.01, AT_HAND)
    assert seen["gamma", "Config"] == (0.98, HELD)
    assert seen["gamma", "Settings"] == (0.96, HELD)
    assert seen["clip_range", "dict"] == (0.2, HELD)
    assert seen["gae_lambda", ""] == (0.93, OF_MODULE)
    assert not [name for name, _ in seen if name == "seed"]


def test_numbers_of_environments_and_schedulers_mean_something_else() -> None:
    class Env:
        def __init__(self) -> None:
            self.gamma = 0.5

        def reset(self) -> None: ...
        def step(self) -> None: ...

    def loop(env: Env, scheduler: Any) -> Any:
        env.reset()
        return found()

    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1)
    seen = loop(Env(), torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.4))
    assert ("gamma", "ExponentialLR") not in seen
    assert ("gamma", "Env") not in {each for each in seen if seen[each][1] == HELD}


def test_buffers_of_a_module_are_settings_and_attributes_are_never_computed() -> None:
    class Estimator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("lmbda", torch.tensor(0.5))

    class Lazy:
        @property
        def gamma(self) -> float:
            raise AssertionError("asked for")

    def loop(_: int) -> Any:
        held = [lazy := Lazy(), estimator := Estimator()]
        assert held == [lazy, estimator]
        return found()

    assert loop(0)["lmbda", "Estimator"] == (0.5, HELD)


def test_they_are_noted_once_where_a_program_is_watched() -> None:
    told = wild.seen("normalised_env")[1].noted("setting")
    seen = [(each["value"], each["how"]) for each in told if each["name"] == "gamma"]
    assert seen == [(0.95, OF_MODULE)]
