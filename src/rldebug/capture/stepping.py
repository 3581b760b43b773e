"""Optimizers at work: steps, and gradients that are cleared. Outside of audits all of it is counted, in O(1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from rldebug.capture import clipping, schedules
from rldebug.capture.norms import measured, norm_of, norms_of, number, plain
from rldebug.capture.place import users_line
from rldebug.capture.registry import innermost
from rldebug.capture.stand_in import out_of_reach, stand_in, tell_torchscript
from rldebug.capture.zeroing import Followed, follow, verdict

GROUP = "optimizers"
_CLONED = 8  # steps of an optimizer, in one audit, of which the size is measured

watch: Stepping | None = None


def install(session: Any) -> None:
    global watch
    watch = mine = Stepping(session)
    switch = session.switch
    for handle in (register_optimizer_step_pre_hook(_before_step), register_optimizer_step_post_hook(_after_step)):
        switch.when_undone(handle.remove)
    switch.replace(GROUP, Optimizer, "__init__", _creating)
    switch.replace(GROUP, Optimizer, "zero_grad", _zeroing)
    switch.replace(GROUP, nn.Module, "zero_grad", _zeroing)
    switch.replace(GROUP, torch.autograd, "backward", _backward)
    switch.replace(GROUP, torch.autograd, "grad", _grad)
    tell_torchscript(torch.autograd.backward, "aten::backward", switch)
    tell_torchscript(torch.autograd.grad, "aten::grad", switch)
    mine.clipping = clipping.install(session)
    mine.schedules = schedules.install(session)
    switch.when_undone(_forget)
    session.on_audit.append(mine.at_audit_end)
    session.on_finish.append(mine.tell)


def _forget() -> None:
    global watch
    watch = None


def counts() -> dict[str, int]:
    return {} if watch is None else {"clips": watch.clipping.count, "module_zeros": watch.module_zeros}


# ── stand-ins and hooks: they run in the program's own calls ──────────────────────────────────────────────────────────


def _before_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is None or torch.compiler.is_compiling():
        return
    if (mine.session.audit is not None or mine.following) and not out_of_reach():
        with mine.session.timed():
            mine.session.switch.guard(GROUP, mine.before_step, optimizer, args, kwargs)


def _after_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is None or torch.compiler.is_compiling():
        return
    if GROUP not in mine.session.switch.off:
        try:
            mine.after_step(optimizer, args, kwargs)
        except Exception:
            mine.session.switch.failed(GROUP)
    mine.session.stepped()  # also where this group is off: phases are cut by it


def _grad(original: Any) -> Any:
    def grad(*args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is not None and not torch.compiler.is_compiling():
            mine.backwards += 1  # what is put into .grad by hand comes from here
        return original(*args, **kwargs)

    return stand_in(original, grad)


def _creating(original: Any) -> Any:
    def __init__(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        mine = watch
        if mine is not None:
            mine.session.switch.guard(GROUP, mine.created, self)

    return stand_in(original, __init__)


def _zeroing(original: Any) -> Any:
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is not None and not torch.compiler.is_compiling():
            if mine.session.audit is not None:
                mine.session.switch.guard(GROUP, mine.zeroing, self)
            elif isinstance(self, Optimizer):
                mine.known(self).zeros += 1
            else:
                mine.module_zeros += 1
        return original(self, *args, **kwargs)

    return stand_in(original, zero_grad)


def _backward(original: Any) -> Any:
    def backward(*args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is None or torch.compiler.is_compiling():
            return original(*args, **kwargs)
        mine.backwards += 1
        if not mine.following or torch._C._current_graph_task_id() != -1:
            return original(*args, **kwargs)
        mine.session.switch.guard(GROUP, mine.before_backward)
        result = original(*args, **kwargs)
        mine.session.switch.guard(GROUP, mine.after_backward)
        return result

    return stand_in(original, backward)


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _nothing() -> None:
    return None


@dataclass
class _Known:
    """An optimizer of the program."""

    optimizer: ReferenceType[Optimizer]
    created: tuple[str, int] | None = None
    name: str = ""
    steps: int = 0
    zeros: int = 0
    clipped: int = 0  # steps before which gradients were clipped
    idle: int = 0  # steps with no backward pass since the step before
    rate_first: float | None = None
    rate_last: float | None = None
    rate_lowest: float | None = None
    rate_highest: float | None = None
    cleared: list[int] = field(default_factory=lambda: [0, 0])  # times that gradients were found cleared, and not
    zeroed: tuple[bool | None, int, int] = (None, 0, 0)
    followed: list[Followed] = field(default_factory=list)
    backwards: int = -1
    last_grad: Callable[[], Tensor | None] = _nothing  # of its first parameter, in the step before
    measured: int = 0  # steps in this audit
    before: list[Tensor] | None = None
    grads: dict[str, Any] = field(default_factory=dict)
    description: dict[str, Any] = field(default_factory=dict)


class Stepping:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.clipping = clipping.Clipping(session)
        self.schedules = schedules.Schedules(session)
        self.module_zeros = 0
        self.backwards = 0
        self.following: list[Followed] = []  # gradients, of all optimizers
        self._known: dict[int, _Known] = {}
        self._audit: int | None = None

    # ── optimizers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def created(self, optimizer: Optimizer) -> None:
        # Its name is what the program calls it, and it is not called anything yet.
        if len(self._known) > 256:
            self._known = {key: each for key, each in self._known.items() if each.optimizer() is not None}
        self._replace(optimizer, _Known(ref(optimizer), users_line(2)))

    def known(self, optimizer: Optimizer) -> _Known:
        found = self._known.get(id(optimizer))
        if found is None or found.optimizer() is not optimizer:
            inner = innermost(optimizer)
            if inner is not optimizer:
                return self.known(inner)
            found = self._replace(optimizer, _Known(ref(optimizer)))
        return found

    def _replace(self, optimizer: Optimizer, known: _Known) -> _Known:
        gone = self._known.get(id(optimizer))
        if gone is not None:
            self._tell(gone)  # its place in memory was taken: this is its last word
        self._known[id(optimizer)] = known
        return known

    def tell(self) -> None:
        for each in list(self._known.values()):
            self._tell(each)

    def at_audit_end(self, _: Any) -> None:
        self.clipping.forget()
        self.tell()

    def _tell(self, known: _Known) -> None:
        optimizer = known.optimizer()
        if optimizer is not None:
            known.name = known.name or self.session.registry.optimizer(optimizer)
            known.description = self._describe(optimizer)
        if not known.name:
            return  # gone before it did anything
        self.session.thing(
            "optimizer",
            known.name,
            **known.description,
            label=self.session.registry.labels.get(known.name, ""),
            steps=known.steps,
            zeros=known.zeros,
            clipped=known.clipped,
            idle=known.idle,
            schedules=self.schedules.of.get(id(optimizer), 0),
            cleared=known.cleared[0],
            uncleared=known.cleared[1],
            created=known.created,
            lr_first=known.rate_first,
            lr_last=known.rate_last,
            lr_lowest=known.rate_lowest,
            lr_highest=known.rate_highest,
        )

    def _describe(self, optimizer: Optimizer) -> dict[str, Any]:
        parameters = _parameters(optimizer)
        modules: dict[str, int] = {}
        for each in parameters:
            for owner in self.session.registry.owners([id(each)]):
                modules[owner] = modules.get(owner, 0) + 1
        return {
            "class": type(optimizer).__name__,
            "settings": {key: value for key, value in optimizer.param_groups[0].items() if _simple(value)},
            "groups": len(optimizer.param_groups),
            "tensors": len(parameters),
            "numel": sum(each.numel() for each in parameters),
            "frozen": sum(not each.requires_grad for each in parameters),
            "modules": modules,
            "missing": len(parameters) - sum(modules.values()),
        }

    # ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def before_step(self, optimizer: Optimizer, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        known = self.known(optimizer)
        closure = len(args) > 1 or bool(kwargs)
        if not closure:  # else the gradients are not there yet
            self._judge(known)
        audit = self.session.audit
        if audit is None:
            return
        self._renew(audit)
        known.grads = {} if closure else self._gradients(optimizer)
        known.before = None
        found = getattr(optimizer, "found_inf", None)  # a GradScaler lets a fused optimizer run, and change nothing
        if known.measured < _CLONED and not (found is not None and bool(found)):
            known.before = [each.detach().clone() for each in measured(_parameters(optimizer))]

    def after_step(self, optimizer: Optimizer, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        known = self.known(optimizer)
        known.steps += 1
        if not known.name:
            self._tell(known)
        if known.steps == 1:
            self.session.joined()
        grad = optimizer.param_groups[0]["params"][0].grad
        if known.backwards == self.backwards and grad is known.last_grad():
            known.idle += 1
        known.backwards = self.backwards
        known.last_grad = _nothing if grad is None else ref(grad)
        rate = optimizer.param_groups[0].get("lr")
        if type(rate) is float:
            self._rated(known, rate)
        audit = self.session.audit
        if audit is not None and not out_of_reach():
            with self.session.timed():
                self._record(audit, optimizer, known)
        elif known.followed:
            self._judge(known)  # a step that was given a closure: its gradients were made just now
        if self.clipping.pending:
            known.clipped += 1
            self.clipping.pending = False

    def _rated(self, known: _Known, rate: float) -> None:
        known.rate_last = rate
        if known.rate_first is None or known.rate_lowest is None or known.rate_highest is None:
            known.rate_first = known.rate_lowest = known.rate_highest = rate
        elif rate < known.rate_lowest:
            known.rate_lowest = rate
        elif rate > known.rate_highest:
            known.rate_highest = rate

    def _record(self, audit: Any, optimizer: Optimizer, known: _Known) -> None:
        self._renew(audit)
        parameters = _parameters(optimizer)
        if not known.grads:
            self._judge(known)
            known.grads = self._gradients(optimizer)
        zeroed, uncleared, fed = known.zeroed
        known.zeroed = (None, 0, 0)
        rate = number(optimizer.param_groups[0].get("lr"))
        if rate is not None:
            self._rated(known, rate)
        detail: dict[str, Any] = {
            "optimizer": known.name,
            "lr": rate,
            **known.grads,
            "zeroed": zeroed,
            "uncleared": [uncleared, fed],
            "clipped": self.clipping.stepped(parameters),
            "backwards": self.backwards,
            "line": users_line(2),
        }
        before, known.before, known.grads = known.before, None, {}
        if before:
            known.measured += 1
            after = measured(parameters)
            if [each.shape for each in after] == [each.shape for each in before]:
                weights, change = norm_of(before), norm_of(torch._foreach_sub(after, before))
                detail["weights_norm"], detail["change_norm"] = weights, change
                detail["change"] = change / weights if weights else None
                detail["whole"] = len(before) == len(parameters)
        audit.event("step", detail)
        self._unfollow(known)
        known.followed = follow(parameters)
        self.following = self.following + known.followed

    def _gradients(self, optimizer: Optimizer) -> dict[str, Any]:
        parameters = _parameters(optimizer)
        grads = [(each, each.grad) for each in parameters if each.grad is not None and plain(each.grad)]
        sizes = norms_of([grad for _, grad in grads])
        squares: dict[str, float] = {}
        for (each, _), size in zip(grads, sizes, strict=True):
            for owner in self.session.registry.owners([id(each)]):
                squares[owner] = squares.get(owner, 0.0) + size * size
        return {
            "grad_norm": math.hypot(*sizes) if sizes else None,
            "grad_norms": {owner: math.sqrt(square) for owner, square in squares.items()},
            "zero_grads": sum(size == 0.0 for size in sizes),
            "without": sum(each.grad is None and each.requires_grad for each in parameters),
            "of": len(parameters),
        }

    def _renew(self, audit: Any) -> None:
        if audit.number != self._audit:
            self._audit = audit.number
            for each in self._known.values():
                each.measured = 0

    # ── cleared ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _judge(self, known: _Known) -> None:
        if not known.followed:
            return
        found = verdict(known.followed)
        if found[0] is not None:
            known.zeroed = found
            known.cleared[0 if found[0] else 1] += 1
        self._unfollow(known)

    def _unfollow(self, known: _Known) -> None:
        if known.followed:
            gone = {id(each) for each in known.followed}
            self.following = [each for each in self.following if id(each) not in gone]
            known.followed = []

    def before_backward(self) -> None:
        for each in self.following:
            each.before_backward()

    def after_backward(self) -> None:
        for each in self.following:
            each.after_backward()

    def zeroing(self, owner: Any) -> None:
        audit = self.session.audit
        if isinstance(owner, Optimizer):
            known = self.known(owner)
            known.zeros += 1
            known.name = known.name or self.session.registry.optimizer(owner)
            audit.event("zero", {"optimizer": known.name, "line": users_line(2)})
        else:
            self.module_zeros += 1
            audit.event("zero", {"module": self.session.registry.module(owner), "line": users_line(2)})


def _parameters(optimizer: Optimizer) -> list[Tensor]:
    return [each for group in optimizer.param_groups for each in group["params"]]


def _simple(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, (bool, int, float, str))
        or (isinstance(value, tuple) and all(isinstance(each, (bool, int, float)) for each in value))
    )
