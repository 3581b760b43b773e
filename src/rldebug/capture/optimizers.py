"""Optimizer step hooks: the parameters before and after a step, the gradients it used, and whether they were zeroed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.utils.hooks import unserializable_hook

from rldebug.rollout import AdamMoments, GradientWindow, Step, norms

WINDOW = 8  # consecutive gradients whose mean stands for the large batch


@dataclass
class OptimizerWatch:
    """Hooks one optimizer. `wanted()` is asked before every step; only wanted steps cost anything."""

    optimizer: Optimizer
    name: str
    named: Mapping[int, str]  # id of a parameter -> its name
    wanted: Callable[[OptimizerWatch], bool]
    on_any_step: Callable[[OptimizerWatch], None]
    on_step: Callable[[OptimizerWatch, Step], None]
    on_window: Callable[[OptimizerWatch, GradientWindow], None]
    rows: Callable[[], int | None]
    failed: Callable[[str], None]
    on_done: Callable[[], None]
    steps: int = 0
    _before: list[Tensor] | None = None
    _window: _Window | None = None
    _handles: list[Any] = field(default_factory=list)
    _zeroing: _Zeroing | None = None

    def attach(self) -> None:
        self._handles = [
            self.optimizer.register_step_pre_hook(self._pre),
            self.optimizer.register_step_post_hook(self._post),
        ]

    def detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if self._zeroing is not None:
            self._zeroing.stop()
            self._zeroing = None

    def parameters(self) -> list[Tensor]:
        return [each for group in self.optimizer.param_groups for each in group["params"]]

    def start_window(self) -> None:
        """Gather the next gradients for a noise-scale estimate."""
        if self._window is None:
            self._window = _Window()

    def _pre(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        try:
            if self._zeroing is not None:
                self._zeroing.stepping()
            if self.wanted(self) and not _refused(optimizer):
                self._before = [each.detach().clone() for each in self.parameters()]
        except Exception:
            self.detach()
            self.failed(f"optimizer hook {self.name}")

    def _post(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        try:
            self._saw_step()
        except Exception:
            self.detach()
            self.failed(f"optimizer hook {self.name}")
        self.on_done()  # outside the net: a trap may raise here, in the user's own optimizer.step()

    def _saw_step(self) -> None:
        self.steps += 1
        if self._window is not None:
            self._gather(self._window)
        if self._before is None:
            self.on_any_step(self)
            return
        before, self._before = self._before, None
        parameters = self.parameters()
        step = Step(
            optimizer=self.name,
            names=tuple(self.named.get(id(each), f"{self.name}[{i}]") for i, each in enumerate(parameters)),
            before=before,
            after=[each.detach() for each in parameters],
            grads=[None if each.grad is None else _dense(each.grad) for each in parameters],
            learning_rate=float(self.optimizer.param_groups[0]["lr"]),
            rows=self.rows(),
        )
        if self._zeroing is None:
            self._zeroing = _Zeroing.after_step(parameters, self.failed)
        self.on_step(self, step)
        self.on_any_step(self)

    def zeroed(self) -> bool | None:
        """Whether gradients were cleared between two steps; None while that is not known. Asked once, and forgotten."""
        if self._zeroing is None or self._zeroing.verdict is None:
            return None
        watch, self._zeroing = self._zeroing, None
        return watch.verdict or bool(watch.empty)

    def _gather(self, window: _Window) -> None:
        grads = [_dense(each.grad) for each in self.parameters() if each.grad is not None]
        rows = self.rows()
        if not grads or not rows or not window.add(grads, rows):
            self._window = None
        elif window.count == WINDOW:
            self._window = None
            self.on_window(self, window.close())


@dataclass
class _Window:
    count: int = 0
    rows: int = 0
    total: list[Tensor] = field(default_factory=list)
    small_sq: list[Tensor] = field(default_factory=list)

    def add(self, grads: list[Tensor], rows: int) -> bool:
        with torch.no_grad():
            if self.count == 0:
                self.rows = rows
                self.total = [each.clone() for each in grads]
            elif rows != self.rows or len(grads) != len(self.total):
                return False  # the batches differ: their norms cannot be compared
            else:
                torch._foreach_add_(self.total, grads)
            self.small_sq.append(norms(grads).square().sum())
        self.count += 1
        return True

    def close(self) -> GradientWindow:
        with torch.no_grad():
            big = norms(self.total).square().sum() / self.count**2
            small = torch.stack(self.small_sq).mean()
        return GradientWindow(small, big, self.rows, self.rows * self.count)


@dataclass
class _Zeroing:
    """Follows one gradient tensor from a step to the next: is it cleared in between, or accumulated onto?

    A gradient set to None becomes another tensor; one cleared in place moves its version by more than the
    accumulation alone does; one cleared through `.data` moves nothing, but is all zeros when the next one is added.
    Watching only backward passes is not enough: SAC's actor loss leaves gradients in the critic that are cleared later,
    so the chain is followed up to the step of the optimizer that owns the parameter.
    """

    parameter: Tensor
    grad: ReferenceType[Tensor]
    version: int
    failed: Callable[[str], None]
    handles: list[Any] = field(default_factory=list)
    empty: Tensor | bool = False
    accumulated: int = 0
    broken: bool = False
    verdict: bool | None = None

    @staticmethod
    def after_step(parameters: list[Tensor], failed: Callable[[str], None]) -> _Zeroing | None:
        for parameter in reversed(parameters):
            grad = parameter.grad
            if grad is None or grad.is_sparse or grad.is_inference() or not parameter.requires_grad:
                continue
            watch = _Zeroing(parameter, ref(grad), grad._version, failed)
            watch.handles = [
                parameter.register_hook(watch._arriving),  # type: ignore[no-untyped-call]
                parameter.register_post_accumulate_grad_hook(watch._accumulate),  # type: ignore[no-untyped-call]
            ]
            return watch
        return None

    @unserializable_hook  # type: ignore[untyped-decorator]
    def _arriving(self, incoming: Tensor) -> None:
        try:
            grad = self.parameter.grad
            if grad is not None and not self.broken:
                with torch.no_grad():
                    self.empty = self.empty | (grad == 0).all()
        except Exception:
            self._give_up()

    def _accumulate(self, parameter: Tensor) -> None:
        try:
            grad = parameter.grad
            self.accumulated += 1
            if grad is None or self.grad() is not grad or grad._version != self.version + 1:
                self.broken = True
            else:
                self.version = grad._version
        except Exception:
            self._give_up()

    def _give_up(self) -> None:
        self.stop()
        self.accumulated = 0
        self.failed("gradient hook")

    def stepping(self) -> None:
        if self.verdict is None and self.accumulated:
            self.verdict = self.broken
            self.stop()

    def stop(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []


def adam_moments(optimizer: Optimizer, parameters: list[Tensor]) -> AdamMoments | None:
    group = optimizer.param_groups[0]
    if "betas" not in group or group.get("amsgrad"):
        return None
    states = [optimizer.state.get(each) or {} for each in parameters]
    states = [each for each in states if "exp_avg" in each and "exp_avg_sq" in each]
    if not states:
        return None
    steps = states[0].get("step", 0)
    # A step count on an accelerator (capturable or fused Adam) would cost a wait to read: do without.
    if isinstance(steps, Tensor) and steps.device.type != "cpu":
        return None
    return AdamMoments(
        first=[each["exp_avg"] for each in states],
        second=[each["exp_avg_sq"] for each in states],
        beta1=float(group["betas"][0]),
        beta2=float(group["betas"][1]),
        steps=int(steps),
    )


def _refused(optimizer: Optimizer) -> bool:
    """Whether a GradScaler lets a fused optimizer run and change nothing, because it has found infinite gradients."""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and bool(found)


def _dense(grad: Tensor) -> Tensor:
    return grad.detach().coalesce().values() if grad.is_sparse else grad.detach()
