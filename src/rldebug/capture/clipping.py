"""Gradients that are clipped: by how much, and whether a step has used them already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn

from rldebug.capture.norms import norm_of, number, plain
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import out_of_reach, stand_in

GROUP = "optimizers"
_NAMES = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")
_USED = 4096  # gradients that are remembered as used

watch: Clipping | None = None


def install(session: Any) -> Clipping:
    global watch
    watch = mine = Clipping(session)
    for name in _NAMES:
        original = getattr(nn.utils, name, None)
        if original is None:
            continue  # a torch that does not have it yet
        clip = _clipping(name, original)
        for owner in (nn.utils, nn.utils.clip_grad):
            if getattr(owner, name, None) is original:
                session.switch.replace(GROUP, owner, name, lambda _, clip=clip: clip)
    session.switch.when_undone(_forget)
    return mine


def _forget() -> None:
    global watch
    watch = None


def _clipping(name: str, original: Any) -> Any:
    def clip(*args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is None or torch.compiler.is_compiling():
            return original(*args, **kwargs)
        mine.count += 1
        mine.pending = True
        if mine.session.audit is None or out_of_reach():
            return original(*args, **kwargs)
        parameters = args[0] if args else kwargs.get("parameters")
        if isinstance(parameters, Iterator):  # to look at it uses it up: the original gets another like it
            parameters = list(parameters)
            again = (each for each in parameters)
            if args:
                args = (again, *args[1:])
            else:
                kwargs = {**kwargs, "parameters": again}
        guard = mine.session.switch.guard
        seen = guard(GROUP, mine.before, name, parameters)
        result = original(*args, **kwargs)
        if seen is not None:
            guard(GROUP, mine.after, name, seen, args, kwargs, result)
        return result

    return stand_in(original, clip)


class Clipping:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.count = 0
        self.pending = False  # clipped since the last step
        self._used: dict[
            int, tuple[ReferenceType[Tensor], int]
        ] = {}  # id of a parameter -> the gradient a step has used
        self._clipped: set[int] = set()  # ids of parameters

    def stepped(self, parameters: Sequence[Tensor]) -> bool:
        """After a step in an audit. Whether gradients of it had been clipped."""
        ids = {id(each) for each in parameters}
        clipped = bool(ids & self._clipped)
        self._clipped -= ids
        for each in parameters:
            grad = each.grad
            if grad is not None and not grad.is_inference() and len(self._used) < _USED:
                self._used[id(each)] = (ref(grad), grad._version)
        return clipped

    def forget(self) -> None:
        self._used.clear()
        self._clipped.clear()

    def before(self, name: str, parameters: Any) -> dict[str, Any]:
        given = [parameters] if isinstance(parameters, Tensor) else [*parameters]
        grads = [each.grad for each in given if each.grad is not None and plain(each.grad)]
        return {
            "tensors": len(given),
            "without": sum(each.grad is None for each in given),
            "norm": norm_of(grads) if name == "clip_grad_value_" else None,
            "after_step": self._after_step(given),
            "modules": self.session.registry.owners(id(each) for each in given),
            "ids": {id(each) for each in given},
        }

    def after(self, name: str, seen: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> None:
        self._clipped |= seen.pop("ids")
        limit = kwargs.get("max_norm", kwargs.get("clip_value", args[1] if len(args) > 1 else None))
        if name == "clip_grad_norm_":
            seen["norm"] = number(result)
        elif name == "clip_grads_with_norm_":
            seen["norm"] = number(kwargs.get("total_norm", args[2] if len(args) > 2 else None))
        kind = kwargs.get("norm_type", args[2] if name == "clip_grad_norm_" and len(args) > 2 else 2.0)
        detail = {
            "how": "value" if name == "clip_grad_value_" else "norm",
            "limit": number(limit),
            "norm_type": number(kind),
            **seen,
            "line": users_line(2),
        }
        if self.session.audit is not None:
            self.session.audit.event("clip", detail)

    def _after_step(self, given: Sequence[Tensor]) -> bool | None:
        """Whether these are gradients as a step has left them; None where none of them was stepped yet."""
        same = [
            used[0]() is each.grad and used[1] == each.grad._version
            for each in given
            if each.grad is not None and (used := self._used.get(id(each))) is not None
        ]
        return all(same) if same else None
