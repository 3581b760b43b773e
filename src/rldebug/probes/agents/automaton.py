"""Agents that follow a fixed pattern: one action after the other, one for a while, or what a user wrote down."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.probes.agents.constant import some_actions
from rldebug.probes.agents.random import Random, allowed


class Cyclic:
    """Goes through the actions in turn, one per step."""

    kind = "automaton"

    def __init__(self, action_space: gym.Space[Any], seed: int = 0) -> None:
        self.name = "cyclic"
        self.actions: Sequence[Any] = [action for _, action in some_actions(action_space, most=32, seed=seed)]
        self.otherwise = Random(action_space, seed)

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        action = self.actions[t % len(self.actions)]
        return action if allowed(action, info) else self.otherwise.act(obs, info, t)


class Sticky:
    """Draws an action and keeps to it, for `stay` steps on average: gets further than drawing anew at each step."""

    kind = "automaton"

    def __init__(self, action_space: gym.Space[Any], seed: int = 0, stay: float = 8.0) -> None:
        self.name = "sticky"
        self.draws = Random(action_space, seed)
        self.generator = np.random.default_rng(seed)
        self.stay = stay
        self.action: Any = None

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        if t == 0 or self.generator.random() < 1 / self.stay or not allowed(self.action, info):
            self.action = self.draws.act(obs, info, t)
        return self.action


class Written:
    """What a user wrote: a function `obs -> action`, or `(obs, t) -> action`."""

    kind = "written"

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        if not callable(function):
            raise TypeError(f"an automaton is a function obs -> action or (obs, t) -> action, got {function!r}")
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.function = function
        self.with_time = _wants_time(function)

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        return self.function(obs, t) if self.with_time else self.function(obs)


def _wants_time(function: Callable[..., Any]) -> bool:
    """Whether it needs a second argument: one with a default (`def act(obs, gain=3.0)`) is the user's own."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C
        return False
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len([each for each in parameters if each.kind in places and each.default is inspect.Parameter.empty]) >= 2
