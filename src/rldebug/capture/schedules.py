"""Learning-rate schedules: each step of one, and the rate before and after."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from rldebug.capture import schedules as here  # what a stand-in refers to must be a module: see stand_in.py
from rldebug.capture.norms import number
from rldebug.capture.place import users_line
from rldebug.capture.registry import innermost
from rldebug.capture.stand_in import replace_in_family, stand_in

GROUP = "optimizers"

watch: Schedules | None = None


def install(session: Any) -> Schedules:
    global watch
    watch = mine = Schedules(session)
    replace_in_family(session.switch, GROUP, LRScheduler, ("step",), _scheduling)
    session.switch.when_undone(_forget)
    return mine


def _forget() -> None:
    global watch
    watch = None


def _scheduling(_: str, original: Any) -> Any:
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        mine = here.watch
        # One schedule may be made of others: only the outermost counts.
        if mine is None or torch.compiler.is_compiling() or mine.inside():
            return original(self, *args, **kwargs)
        seen = mine.session.switch.guard(here.GROUP, mine.before, self)
        mine.enter(True)
        try:
            result = original(self, *args, **kwargs)
        finally:
            mine.enter(False)
        if seen is not None:
            mine.session.switch.guard(here.GROUP, mine.after, self, seen)
        return result

    return stand_in(original, step)


class Schedules:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.of: dict[int, int] = {}  # id of an optimizer -> steps of its schedules
        self._local = threading.local()

    def inside(self) -> bool:
        return getattr(self._local, "inside", False)

    def enter(self, inside: bool) -> None:
        self._local.inside = inside

    def before(self, scheduler: Any) -> tuple[Any, ...] | None:
        # A schedule takes a step of its own when it is made.
        if getattr(scheduler, "_is_initial", False) or getattr(scheduler, "_step_count", 1) == 0:
            return None
        optimizer = getattr(scheduler, "optimizer", None)
        if not isinstance(optimizer, Optimizer):
            return None
        optimizer = innermost(optimizer)
        self.of[id(optimizer)] = self.of.get(id(optimizer), 0) + 1
        return (optimizer, self._rates(optimizer) if self.session.audit is not None else ())

    def after(self, scheduler: Any, seen: tuple[Any, ...]) -> None:
        audit = self.session.audit
        optimizer, before = seen
        if audit is not None and before:
            detail = {
                "optimizer": self.session.registry.optimizer(optimizer),
                "scheduler": type(scheduler).__name__,
                "before": before[0],
                "after": self._rates(optimizer)[0],
                "times": self.of[id(optimizer)],
                "line": users_line(2),
            }
            audit.event("schedule", detail)

    def _rates(self, optimizer: Optimizer) -> list[float | None]:
        return [number(each.get("lr")) for each in optimizer.param_groups]
