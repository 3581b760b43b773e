"""Steps of optimizers on one rank, for comparison with the others: some numbers of the gradient as it came out of the
backward pass and as it was stepped with, and of the weights. The same numbers at the same steps, on every rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from rldebug.capture.norms import number, plain
from rldebug.capture.stand_in import stand_in

_FIRST = 16  # steps of each optimizer; after them those that are powers of two
_TENSORS = 4  # of each optimizer, of which
_NUMBERS = 8  # are sampled
_PHASES = 256  # of which it is kept how many updates were before them
_OPTIMIZERS = 8


@dataclass
class _Sampled:
    """One parameter."""

    parameter: Tensor
    places: Tensor
    node: Any = None  # where its gradients are added up
    handle: Any = None
    local: Tensor | None = None  # gradients that came in since the last step
    passes: int = 0  # how often

    def of(self, tensor: Tensor) -> Tensor:
        return tensor.detach().reshape(-1)[self.places].double()

    def came(self, gradients: Any) -> None:
        grad = gradients[0]
        if grad is not None and not grad.is_sparse:
            found = self.of(grad)
            self.passes += 1
            self.local = found if self.local is None else self.local + found


@dataclass
class _Watched:
    steps: int = 0
    sampled: list[_Sampled] = field(default_factory=list)
    clipped: list[list[float]] | None = None  # gradients as they were when they were first clipped

    def listen(self) -> None:
        for each in self.sampled:
            each.local, each.passes = None, 0
            if each.handle is None:
                with torch.enable_grad():
                    each.node = each.parameter.expand_as(each.parameter).grad_fn.next_functions[0][0]  # type: ignore[union-attr]
                # On the node, not on the parameter: that one is the program's, which may save it.
                each.handle = each.node.register_prehook(each.came)

    def leave(self) -> None:
        for each in self.sampled:
            if each.handle is not None:
                each.handle.remove()
            each.node = each.handle = each.local = None
        self.clipped = None


class RankSteps:
    def __init__(self, session: Any, group: str) -> None:
        self.session, self.group = session, group
        self.world = 1
        self.phases: list[int] = []  # updates before each phase that had some
        self._phase = -1
        self._watched: WeakKeyDictionary[Optimizer, _Watched] = WeakKeyDictionary()
        self._handles: list[Any] = []

    def begin(self, world: int) -> None:
        self.world = world
        if self._handles:
            return
        switch = self.session.switch
        self._handles = [
            register_optimizer_step_pre_hook(lambda opt, args, kwargs: switch.guard(self.group, self._before, opt)),
            register_optimizer_step_post_hook(lambda opt, args, kwargs: switch.guard(self.group, self._after, opt)),
        ]
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            clip = self._clipping(getattr(nn.utils, name))
            for owner in (nn.utils, nn.utils.clip_grad):
                switch.replace(self.group, owner, name, lambda _, clip=clip: clip)

    def end(self) -> None:
        for each in self._handles:
            each.remove()
        for watched in self._watched.values():
            watched.leave()

    def wrapped(self) -> bool:
        """Whether a network is called through DistributedDataParallel."""
        return any(type(each).__name__ == "DistributedDataParallel" for _, each in self.session.registry.living())

    def _clipping(self, original: Any) -> Any:
        def clip(*args: Any, **kwargs: Any) -> Any:
            if not torch.compiler.is_compiling():
                self.session.switch.guard(self.group, self._before_clip)
            return original(*args, **kwargs)

        return stand_in(original, clip)

    def _before_clip(self) -> None:
        for each in self._watched.values():
            if each.clipped is None and any(one.handle is not None for one in each.sampled):
                each.clipped = _gradients(each)

    def _before(self, optimizer: Optimizer) -> None:
        if torch.compiler.is_compiling():
            return
        watched = self._watched.get(optimizer)
        if watched is None:
            if len(self._watched) >= _OPTIMIZERS:
                return
            watched = self._watched[optimizer] = _Watched(sampled=_samples(optimizer))
        if self.session.phase != self._phase:
            self._phase = self.session.phase
            if len(self.phases) < _PHASES:
                self.phases.append(self.session.updates)
        if not _wanted(watched.steps):
            return
        listened = all(each.handle is not None for each in watched.sampled)
        local = [each.local for each in watched.sampled]
        known = listened and all(each is not None for each in local)
        self.session.note(
            "rank_step",
            optimizer=self.session.registry.optimizer(optimizer),
            step=watched.steps,
            phase=self.session.phase,
            modules=[(self.session.registry.owners([id(each.parameter)]) or [""])[0] for each in watched.sampled],
            shapes=[list(each.parameter.shape) for each in watched.sampled],
            rate=number(optimizer.param_groups[0].get("lr")),
            how=type(optimizer).__name__,
            passes=max((each.passes for each in watched.sampled), default=0),
            local=_numbers([each for each in local if each is not None]) if known else None,
            clipped=watched.clipped if known else None,
            stepped=_gradients(watched),
            weights=_numbers([each.of(each.parameter) for each in watched.sampled]),
        )

    def _after(self, optimizer: Optimizer) -> None:
        watched = self._watched.get(optimizer)
        if watched is None:
            return
        watched.steps += 1
        watched.leave()
        if _wanted(watched.steps):
            watched.listen()


def _wanted(step: int) -> bool:
    return step <= _FIRST or step & (step - 1) == 0


def _samples(optimizer: Optimizer) -> list[_Sampled]:
    """Evenly from the first parameter to the last; the places are the same on every rank."""
    every = [each for group in optimizer.param_groups for each in group["params"]]
    fit = [each for each in every if plain(each) and each.requires_grad and each.is_floating_point() and each.numel()]
    chosen = [fit[place * (len(fit) - 1) // max(_TENSORS - 1, 1)] for place in range(_TENSORS)] if fit else []
    unique = list({id(each): each for each in chosen}.values())
    return [_Sampled(each, _places(each)) for each in unique]


def _places(parameter: Tensor) -> Tensor:
    count = min(_NUMBERS, parameter.numel())
    return torch.linspace(0, parameter.numel() - 1, count, dtype=torch.float64).long().to(parameter.device)


def _gradients(watched: _Watched) -> list[list[float]] | None:
    grads = [(each, each.parameter.grad) for each in watched.sampled]
    if any(grad is None or grad.is_sparse for _, grad in grads):
        return None
    return _numbers([each.of(grad) for each, grad in grads if grad is not None])


def _numbers(tensors: list[Tensor]) -> list[list[float]]:
    return [[float(f"{one:.9g}") for one in each.tolist()] for each in tensors]
