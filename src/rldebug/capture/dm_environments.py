"""Environments of dm_env: each call gives a TimeStep. The step after the last of an episode only starts the next.

What is observed and done lies in specs, which are methods: what they return is noted when the program asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from rldebug.capture.env_calls import GROUP, Shared, shared_by
from rldebug.capture.env_facts import action_facts, observation_facts
from rldebug.capture.env_results import understand
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_MANY = 256  # environments whose specs were asked for before their first step


class DmEnv(Watch):
    kind = "dm_env"
    methods = {  # noqa: RUF012
        "reset": "reset",
        "step": "time_step",
        "action_spec": "action_spec",
        "observation_spec": "observation_spec",
    }

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.specs: dict[int, tuple[Any, dict[str, Any]]] = {}

    def autoreset(self, env: Any) -> str:
        return "next-step"

    def time_step(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        return self.step(original, env, args, kwargs)

    def within(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """A step that another environment takes: an adapter, which may or may not hand on how the episode ended."""
        inside = self.here.inside or self.shared.within
        told = original(env, *args, **kwargs) if inside is True else inside("step", original, env, args, kwargs)
        self.switch.guard(GROUP, self.saw_within, told)
        return told

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        super().saw_step(env, action, result)
        self.shared.ended = ""  # of one within this one: it says itself how it ended

    def saw_within(self, told: Any) -> None:
        step = understand(told)
        self.shared.ended = (
            "" if step is None else "over" if step.terminated is True else "cut" if step.truncated else ""
        )

    def action_spec(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        spec = self.call(original, env, args, kwargs)
        self.switch.guard(GROUP, self.saw_spec, env, "action_space", spec)
        return spec

    def observation_spec(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        spec = self.call(original, env, args, kwargs)
        self.switch.guard(GROUP, self.saw_spec, env, "obs_space", spec)
        return spec

    def saw_spec(self, env: Any, name: str, spec: Any) -> None:
        space = AsSpace(spec)
        told = (action_facts if name == "action_space" else observation_facts)(space) | {name: space.kind}
        known = self.known.get(id(env))
        if known is not None and known.ref() is env:
            known.facts.update(told)
            return
        if len(self.specs) > _MANY:
            self.specs.clear()
        found = self.specs.get(id(env))
        if found is None or found[0]() is not env:
            found = self.specs[id(env)] = (ref(env), {})
        found[1].update(told)

    def announce(self, env: Any, known: Known) -> None:
        super().announce(env, known)
        told = self.specs.pop(id(env), None)
        if told is not None and told[0]() is env:
            known.facts.update(told[1])


class AsSpace:
    """A spec of dm_env under the names that Gymnasium has for the same."""

    def __init__(self, spec: Any) -> None:
        self.shape, self.dtype = getattr(spec, "shape", None), getattr(spec, "dtype", None)
        self.n = getattr(spec, "num_values", None)
        self.low = self.high = None
        self.kind = "Discrete" if self.n is not None else "Box" if self.shape is not None else type(spec).__name__
        low, high = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
        if self.shape is not None and self.n is None and low is not None and high is not None:
            self.low, self.high = np.broadcast_to(low, self.shape), np.broadcast_to(high, self.shape)


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)
    when_imported(switch, GROUP, "dm_env._environment", lambda module: DmEnv(shared).cover(module.Environment))
