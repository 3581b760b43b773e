"""Single numbers that are learned: the temperature of an entropy bonus, a multiplier. Their value, and its gradient.

The size of a gradient says nothing of which way such a number goes; here its sign is all that matters.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from rldebug.capture.norms import plain
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import out_of_reach

GROUP = "optimizers"
_NUMBERS = 4  # in all of an optimizer's groups: more are weights

watch: Scalars | None = None


def install(session: Any) -> None:
    global watch
    watch = Scalars(session)
    for handle in (register_optimizer_step_pre_hook(_before), register_optimizer_step_post_hook(_after)):
        session.switch.when_undone(handle.remove)
    session.switch.when_undone(_forget)


def _forget() -> None:
    global watch
    watch = None


def _before(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is not None and mine.session.audit is not None and not torch.compiler.is_compiling() and not out_of_reach():
        mine.session.switch.guard(GROUP, mine.before, optimizer)


def _after(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is not None and mine.pending is not None and not torch.compiler.is_compiling():
        mine.session.switch.guard(GROUP, mine.after, optimizer)


class Scalars:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.pending: tuple[int, list[float], list[float]] | None = None

    def before(self, optimizer: Optimizer) -> None:
        self.pending = None
        numbers = _numbers(optimizer)
        if numbers is not None:
            self.pending = (id(optimizer), *numbers)

    def after(self, optimizer: Optimizer) -> None:
        pending, self.pending = self.pending, None
        audit = self.session.audit
        if audit is None or pending is None or pending[0] != id(optimizer):
            return
        now = _numbers(optimizer)
        detail = {
            "optimizer": self.session.registry.optimizer(optimizer),
            "before": pending[1],
            "gradient": pending[2],
            "after": now[0] if now is not None else None,
            "line": users_line(2),
        }
        audit.event("scalar", detail)


def _numbers(optimizer: Optimizer) -> tuple[list[float], list[float]] | None:
    """Values and gradients, where there are a few numbers only, and each has a gradient."""
    values: list[float] = []
    gradients: list[float] = []
    for group in optimizer.param_groups:
        for each in group["params"]:
            if each.numel() + len(values) > _NUMBERS or each.grad is None or not plain(each.grad):
                return None
            values += each.detach().reshape(-1).tolist()
            gradients += each.grad.detach().reshape(-1).tolist()
    return (values, gradients) if values else None
