"""Registry: the networks and optimizers a program uses, by name. Keeps none of them alive."""

from __future__ import annotations

import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any
from weakref import ReferenceType, ref

from torch import nn
from torch.optim import Optimizer

from rldebug.capture.place import users_frame, users_line

_FRAMES = 6  # in which the program's own name for a thing is looked for


class Registry:
    def __init__(self) -> None:
        self.modules: dict[str, ReferenceType[nn.Module]] = {}
        self.optimizers: dict[str, ReferenceType[Optimizer]] = {}
        self.lines: dict[str, tuple[str, int] | None] = {}
        self.labels: dict[str, str] = {}
        self._names: dict[int, tuple[ReferenceType[Any], str]] = {}
        self._owner: dict[int, str] = {}  # id of a parameter -> the first module it was seen in
        self._called: set[str] = set()  # modules
        self.on_optimizer: list[Callable[[str, Optimizer], None]] = []

    def known(self, thing: Any) -> str | None:
        found = self._names.get(id(thing))
        return found[1] if found is not None and found[0]() is thing else None

    def module(self, module: nn.Module) -> str:
        name = self.known(module)
        if name is None:
            name = self._register(module, self.modules)
            for parameter in module.parameters():
                if self._gone(id(parameter)):
                    self._owner[id(parameter)] = name
        return name

    def called(self, module: nn.Module) -> str:
        """Its parameters are its own, and not those of what holds it, was loaded, and has never been called itself."""
        name = self.module(module)
        if name not in self._called:
            self._called.add(name)
            for parameter in module.parameters():
                if self._gone(id(parameter)) or self._owner[id(parameter)] not in self._called:
                    self._owner[id(parameter)] = name
        return name

    def _gone(self, parameter: int) -> bool:
        """Nobody has it; or who had it is gone, and its place in memory another's."""
        owner = self.modules.get(self._owner.get(parameter, ""))
        return owner is None or owner() is None

    def optimizer(self, optimizer: Optimizer) -> str:
        optimizer = innermost(optimizer)
        name = self.known(optimizer)
        if name is None:
            name = self._register(optimizer, self.optimizers)
            for tell in self.on_optimizer:
                tell(name, optimizer)
        return name

    def owners(self, ids: Iterable[int]) -> list[str]:
        """Names of the modules that parameters belong to: the outermost that was called first; else, registered."""
        return sorted({self._owner[each] for each in ids if each in self._owner})

    def living(self) -> list[tuple[str, nn.Module]]:
        return [(name, module) for name, each in self.modules.items() if (module := each()) is not None]

    def _register(self, thing: Any, shelf: dict[str, Any]) -> str:
        label = label_of(thing)
        name, taken = label or type(thing).__name__, itertools.count(2)
        while name in shelf:
            name = f"{label or type(thing).__name__}-{next(taken)}"
        shelf[name] = ref(thing)
        self._names[id(thing)] = (shelf[name], name)
        self.lines[name] = users_line()
        self.labels[name] = label or ""
        return name


def innermost(optimizer: Optimizer) -> Optimizer:
    """The one that steps: a wrapper that hands everything on, as Accelerate has, is an Optimizer by name only."""
    seen = set()
    while "_optimizer_step_pre_hooks" not in vars(optimizer) and id(optimizer) not in seen:
        seen.add(id(optimizer))
        optimizer = next((each for each in vars(optimizer).values() if isinstance(each, Optimizer)), optimizer)
    return optimizer


def locals_of(frame: FrameType) -> dict[str, Any]:
    """Its variables. Up to Python 3.12 a frame keeps the snapshot it is asked for, and all in it: emptied."""
    snapshot = frame.f_locals
    found = dict(snapshot)
    # The dict of a module or class is its namespace itself; and after a debugger or profiler the snapshot is put back.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED and not _looked_at():
        # The program's own `locals()` is the same dict: held by the frame, by us twice, and then by it as well.
        if sys.getrefcount(snapshot) <= 3:
            snapshot.clear()
    return found


def _looked_at() -> bool:
    hooks = (sys.gettrace, sys.getprofile, threading.gettrace, threading.getprofile)
    return any(each() is not None for each in hooks)


def label_of(thing: Any) -> str | None:
    """What the program calls a thing: a variable of a frame that leads here, or an attribute of an object in one."""
    frame: FrameType | None = users_frame()
    for _ in range(_FRAMES):
        if frame is None:
            return None
        variables = locals_of(frame)
        for name, value in variables.items():
            if value is thing and name not in ("self", "m", "module", "model", "net", "args"):
                return name
        for name, value in variables.items():
            inside = getattr(value, "__dict__", None) if name == "self" or not isinstance(value, type) else None
            if not isinstance(inside, dict):
                continue
            parts = {**inside, **inside.get("_modules", {})} if isinstance(value, nn.Module) else inside
            for part, each in parts.items():
                if each is thing:
                    return part if name == "self" else f"{name}.{part}"
        frame = frame.f_back
    return None
