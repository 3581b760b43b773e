"""The light hooks of a profile: they tell a stopwatch when an environment steps, a loss is run backward, and an
optimizer steps. Environments are found as they are for `rldebug run`; nothing is kept of what they return."""

from __future__ import annotations

import functools
import importlib
import sys
import traceback
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import torch
from numpy import ndarray
from torch import nn
from torch.nn.parameter import is_lazy
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from rldebug.capture import nvtx
from rldebug.capture.env_calls import shared_by
from rldebug.capture.env_facts import attribute
from rldebug.capture.inner_steps import InnerSteps
from rldebug.capture.place import is_users, users_frame
from rldebug.capture.registry import locals_of
from rldebug.capture.shelf import FILES
from rldebug.capture.stopwatch import Stopwatch
from rldebug.capture.switch import Switchboard
from rldebug.capture.ticking import Tick, Ticking

_NETWORKS = 40
_FLAGS = frozenset({bool, np.bool_, ndarray})
_SOME = 16  # backward passes, of which one is looked at


class PacedLog:
    """The log of environments, as far as a profile needs one. Hands on to another, where there is one."""

    def __init__(self, stopwatch: Stopwatch, log: Any = None) -> None:
        self.stopwatch, self.log = stopwatch, log
        self._numbers: dict[int, int] = {}
        if log is not None:
            self.quick_step = self._quick_step  # its absence says that there are no streams
        else:
            self.light, self.steady = self._light, stopwatch.steady

    def new(self, env: Any, kind: str, lanes: int, autoreset: str, facts: dict[str, Any]) -> Any:
        made = facts.get("created")
        self._numbers[id(env)] = self.stopwatch.environment(
            name=str(facts.get("id") or type(env).__name__),
            lanes=lanes,
            workers=_workers(env),
            spec=_text(attribute(attribute(env, "spec"), "id")),
            render_mode=_text(attribute(env, "render_mode")),
            created=list(made) if made else None,
        )
        return self.log.new(env, kind, lanes, autoreset, facts) if self.log is not None else None

    def reset(self, env: Any, *args: Any) -> None:
        self.stopwatch.happened("reset", self._numbers.get(id(env), -1))
        if self.log is not None:
            self.log.reset(env, *args)

    def step(self, env: Any, action: Any, obs: Any, reward: Any, terminated: Any, truncated: Any, final: Any) -> None:
        self._count(self._numbers.get(id(env), -1), _ended(terminated, truncated))
        if self.log is not None:
            self.log.step(env, action, obs, reward, terminated, truncated, final)

    def _light(self, known: Any, result: Any) -> bool:
        """Whether it could be read at a glance. Called where a step is not just one more that ends nothing."""
        if type(result) is not tuple or not 3 <= len(result) <= 5 or type(result[2]) not in _FLAGS:
            return False
        ended = _ended(result[2], result[3] if len(result) > 3 and type(result[3]) in _FLAGS else False)
        steady = self.stopwatch.steady
        if steady.ref is not None and known.stream is steady.playing:
            steady.calls += 1
            steady.episodes += ended
            return True
        number = self._numbers.get(id(known.inner()), -1)
        known.stream = self.stopwatch.environments[number] if number >= 0 else None
        self._count(number, ended)
        return True

    def _quick_step(
        self, env: Any, stream: Any, action: Any, obs: Any, reward: Any, ended: Any, cut: Any, final: Any, done: bool
    ) -> None:
        self._count(self._numbers.get(id(env), -1), _ended(ended, cut))
        self.log.quick_step(env, stream, action, obs, reward, ended, cut, final, done)

    def _count(self, number: int, ended: int) -> None:
        if number < 0:
            self.stopwatch.stepped(number, 1)
            return
        known = self.stopwatch.environments[number]
        self.stopwatch.stepped(number, known["lanes"])
        known["episodes"] += ended

    def __getattr__(self, name: str) -> Any:
        log = self.__dict__.get("log")
        if log is None:
            raise AttributeError(name)
        return getattr(log, name)


def _ended(terminated: Any, truncated: Any) -> int:
    """How many lanes."""
    if type(terminated) is not ndarray and type(truncated) is not ndarray:
        return 1 if terminated or truncated else 0
    return int(np.count_nonzero(np.logical_or(terminated, truncated)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _workers(env: Any) -> int:
    """Processes that a vector of environments plays in."""
    processes = attribute(env, "processes")
    return len(processes) if isinstance(processes, list | tuple) else 0


_ALL: list[Paced] = []


def _stepped(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    """A function of a module: torch wraps `step` of a user's optimizer with what refers to it, and may be pickled."""
    for each in _ALL:
        each._stepped(optimizer, args, kwargs)


class Paced:
    """All hooks of a profile, on one switchboard."""

    def __init__(
        self, stopwatch: Stopwatch, switch: Switchboard, *, environments: bool = True, tick: Tick | None = None
    ) -> None:
        self.stopwatch, self.switch = stopwatch, switch
        self._optimizers: dict[int, ReferenceType[Optimizer]] = {}
        self._calls: dict[int, list[Callable[[], Any]]] = {}  # after so many updates
        self.on_backward: Callable[[], Any] | None = None  # called in some of them
        self._backwards = 0
        self._look_at = 0  # updates, at which networks are looked for: soon after an optimizer was met

        if environments:
            log: Any = PacedLog(stopwatch)
            if tick is not None:
                log = Ticking(log, tick, switch)
            for name, group in FILES.items():
                if group == "environments":
                    try:
                        importlib.import_module(f"rldebug.capture.{name}").install(switch, log)
                    except Exception:
                        switch.broken[f"capture/{name}"] = traceback.format_exc()
            InnerSteps(shared_by(switch, log))
        for owner, name in ((torch.autograd, "backward"), (torch.autograd, "grad")):
            switch.replace("backward", owner, name, self._before_backward)
        if nvtx.wanted():
            switch.when_undone(register_optimizer_step_pre_hook(lambda *_: nvtx.push("optimizer")).remove)
            switch.when_undone(register_optimizer_step_post_hook(lambda *_: nvtx.pop()).remove)
        _ALL.append(self)
        switch.when_undone(lambda: _ALL.remove(self))
        switch.when_undone(register_optimizer_step_post_hook(_stepped).remove)

    def around(self, update: int, begin: Callable[[], Any], end: Callable[[], Any]) -> None:
        """Call these before and after an update, counted from 1."""
        self._calls.setdefault(update, []).insert(0, end)
        self._calls.setdefault(update - 1, []).append(begin)

    def _before_backward(self, original: Any) -> Any:
        from rldebug.capture.stand_in import stand_in, tell_torchscript

        happened, ranges = self.stopwatch.happened, nvtx.wanted()

        def run(*args: Any, **kwargs: Any) -> Any:
            happened("backward")
            self._backwards += 1
            if self.on_backward is not None and self._backwards % _SOME == 1:
                self.stopwatch._safely("looking at backward", self.on_backward)
            if not ranges:
                return original(*args, **kwargs)
            nvtx.push("backward")
            try:
                return original(*args, **kwargs)
            finally:
                nvtx.pop()

        made = stand_in(original, run)
        operator = "aten::backward" if original.__name__ == "backward" else "aten::grad"
        tell_torchscript(made, operator, self.switch)
        return functools.wraps(original)(made)

    def _stepped(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        if self.stopwatch.elsewhere:
            return
        self.stopwatch.updated()
        if id(optimizer) not in self._optimizers:
            self._optimizers[id(optimizer)] = ref(optimizer)
            self._look_at = self.stopwatch.counts["updates"] + 1  # the program may not be done making them
        updates = self.stopwatch.counts["updates"]
        if updates == self._look_at:
            self.stopwatch._safely("networks", self._look)
        for call in self._calls.pop(updates, ()):
            self.stopwatch._safely("looking at an update", call)

    def _look(self) -> None:
        """The networks there are, while they are there: at the end of `main()` they are gone."""
        optimizers = [each for one in self._optimizers.values() if (each := one()) is not None]
        owner = {
            id(parameter): optimizer
            for optimizer in optimizers
            for group in optimizer.param_groups
            for parameter in group["params"]
        }
        self.stopwatch.facts["networks"] = [
            _described(name, module, owner) for name, module in networks_in_reach()[:_NETWORKS]
        ]


def _described(name: str, module: nn.Module, owner: dict[int, Optimizer]) -> dict[str, Any]:
    parameters = _parameters(module)
    owned = [(each, owner[id(each)]) for each in parameters if id(each) in owner]
    states = [state for each, optimizer in owned for state in optimizer.state.get(each, {}).values()]
    return {
        "name": name,
        "shapes": [list(each.shape) for each in parameters],
        "dtype": str(parameters[0].dtype).removeprefix("torch."),
        "device": parameters[0].device.type,
        "optimizer": type(owned[0][1]).__name__ if owned else "",
        "gradient_bytes": sum(each.grad.nbytes for each in parameters if each.grad is not None),
        "optimizer_bytes": sum(each.nbytes for each in states if isinstance(each, torch.Tensor)),
    }


def networks_in_reach() -> list[tuple[str, nn.Module]]:
    """Those that variables of the program lead to from where it is now, by what it calls them; none that is part of
    another. The garbage collector knows all, but to ask it takes as long as many updates."""
    found: dict[int, tuple[str, nn.Module]] = {}
    frame = users_frame()
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            variables = list(locals_of(frame).items())
            for depth in (0, 3):  # a variable of its own is the better name
                for name, value in variables:
                    _gather(name, value, depth, found)
        frame = frame.f_back
    for name, value in list(vars(sys.modules["__main__"]).items()):
        _gather(name, value, 2, found)
    inner = {id(child) for _, module in found.values() for child in _all_in(module)[1:]}
    return [(name, module) for key, (name, module) in found.items() if key not in inner and _parameters(module)]


# Programs write their own parameters(), and what it does is their affair: what lies in a module is looked at.


def _all_in(module: nn.Module) -> list[nn.Module]:
    """It, and what is in it."""
    found = {id(module): module}
    left = [module]
    while left:
        for each in vars(left.pop()).get("_modules", {}).values():
            if each is not None and id(each) not in found:
                found[id(each)] = each
                left.append(each)
    return list(found.values())


def _parameters(module: nn.Module) -> list[nn.Parameter]:
    lying = (each for one in _all_in(module) for each in vars(one).get("_parameters", {}).values())
    return list({id(each): each for each in lying if each is not None and not is_lazy(each)}.values())


def _gather(name: str, value: Any, depth: int, found: dict[int, tuple[str, nn.Module]]) -> None:
    cls = type(value)
    if issubclass(cls, nn.Module):
        found.setdefault(id(value), (name, value))
    elif depth and cls in (list, tuple):
        for place, each in enumerate(value[:16]):
            _gather(f"{name}[{place}]", each, depth - 1, found)
    elif depth and cls is dict:
        for key, each in list(value.items())[:16]:
            shown = repr(key) if type(key) in (str, int) else type(key).__name__
            _gather(f"{name}[{shown}]", each, depth - 1, found)
    elif depth and not issubclass(cls, type | ModuleType | FunctionType) and cls.__dictoffset__:
        inside = object.__getattribute__(value, "__dict__")
        for key, each in list(inside.items())[:64]:
            _gather(key if name == "self" else f"{name}.{key}", each, depth - 1, found)
