"""Zeroing: whether gradients are cleared between two steps of an optimizer.

A gradient that a step has used, and that the next backward pass adds to, was not cleared. But not every pass that
adds to it is a mistake: the actor's loss of SAC leaves gradients in the critic that are cleared before the critic's
own loss. So a few gradients are followed from one step to the next step of the optimizer that owns them, and judged
only there. No hooks are put on tensors: what happened is read off before and after each backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

from torch import Tensor

from rldebug.capture.norms import plain

_FOLLOWED = 4  # parameters of an optimizer


@dataclass
class Followed:
    parameter: ReferenceType[Tensor]
    grad: ReferenceType[Tensor]
    version: int
    old: bool = True  # holds a gradient that a step has used already
    fed: bool = False  # a backward pass has added to it since that step
    _before: tuple[int, int] | None = None  # identity and version of the gradient, just before a backward pass

    def before_backward(self) -> None:
        grad = self._grad()
        if self.old and self._cleared(grad):
            self.old = False
        self._before = None if grad is None else (id(grad), grad._version)

    def after_backward(self) -> None:
        grad = self._grad()
        if grad is None or (id(grad), grad._version) == self._before:
            return
        self.fed = True
        self.grad, self.version = ref(grad), grad._version

    def uncleared(self) -> bool | None:
        """At the next step: True where that step uses a gradient again; None where nothing was added."""
        if not self.fed:
            return None
        return self.old and not self._cleared(self._grad())

    def _grad(self) -> Tensor | None:
        parameter = self.parameter()
        grad = None if parameter is None else parameter.grad
        return None if grad is None or grad.is_sparse or grad.is_inference() else grad

    def _cleared(self, grad: Tensor | None) -> bool:
        if grad is None or grad is not self.grad():
            return True
        # Written to in place between the step and the first backward pass: taken for cleared, to be sure. Afterwards it
        # may have been clipped or unscaled. A write through .data does not show: only the zeros do.
        return (not self.fed and grad._version != self.version) or not bool(grad.detach().any())


def follow(parameters: Sequence[Tensor]) -> list[Followed]:
    """Some of the parameters that a step has just used."""
    able = [each for each in parameters if each.requires_grad and plain(each) and _followable(each.grad)]
    stride = max(1, len(able) // _FOLLOWED)
    chosen = [(each, each.grad) for each in able[::stride][:_FOLLOWED]]
    return [Followed(ref(each), ref(grad), grad._version) for each, grad in chosen if grad is not None]


def verdict(followed: Sequence[Followed]) -> tuple[bool | None, int, int]:
    """Whether gradients were cleared (None: not known), how many of the followed were not, and how many that is of."""
    found = [each for each in (one.uncleared() for one in followed) if each is not None]
    return (None if not found else not any(found)), sum(found), len(found)


def _followable(grad: Tensor | None) -> bool:
    return grad is not None and plain(grad) and not grad.is_sparse and not grad.is_inference()
