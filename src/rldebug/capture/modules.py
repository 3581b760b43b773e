"""Forward hooks: what each layer puts out during a training forward pass, and the gradient that comes back to it.

Attached only for the updates that ask.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from rldebug.rollout import ActivationGradients, Activations

_ROWS = 256  # of a batch; enough to call a unit dead, and small next to the activations themselves


@dataclass
class ActivationWatch:
    modules: Mapping[str, nn.Module]
    failed: Callable[[str], None]
    outputs: dict[str, Tensor] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    gradients: dict[str, Tensor] = field(default_factory=dict)
    _awaited: dict[str, _Gradient] = field(default_factory=dict)  # of the output that was kept, and no other
    _handles: list[Any] = field(default_factory=list)

    def attach(self) -> None:
        if self._handles or compiling():
            return
        for name, module in self.modules.items():
            for path, layer in module.named_modules():
                if next(layer.children(), None) is None:
                    label = f"{name}.{path}" if path else name
                    self._handles.append(layer.register_forward_hook(_Hook(self, label)))

    def take(self) -> Activations | None:
        """What was seen since `attach`; detaches."""
        self.detach()
        seen, kinds = self.outputs, self.kinds
        self.outputs, self.kinds = {}, {}
        return Activations(seen, kinds) if seen else None

    def take_gradients(self) -> ActivationGradients | None:
        """What has come back to these outputs since they were taken: the backward pass comes later than they do."""
        seen = self.gradients
        self.gradients = {}
        return ActivationGradients(seen) if seen else None

    def drop(self) -> None:
        """What was seen is not wanted after all."""
        self.take()
        self._forget_gradients()

    def _forget_gradients(self) -> None:
        self.gradients, self._awaited = {}, {}

    def detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def saw(self, label: str, layer: nn.Module, output: Any) -> None:
        try:
            if not self._handles or not torch.is_grad_enabled() or not isinstance(output, Tensor) or output.ndim < 2:
                return
            if transformed():
                return
            rows = min(output.shape[0], _ROWS)
            if not self.outputs:
                self._forget_gradients()  # of the pass before: what nobody took of it
            if rows > (self.outputs[label].shape[0] if label in self.outputs else 0):
                # A copy: an in-place activation after this layer would change what we look at later.
                self.outputs[label] = output.detach()[:rows].clone()
                self.kinds[label] = type(layer).__name__
                if output.grad_fn is not None:
                    # On the node and not on the tensor: a tensor with a hook warns when it is pickled, and one that is
                    # changed in place afterwards stands for something else.
                    self._awaited[label] = _Gradient(self, label, rows, output.output_nr)
                    output.grad_fn.register_prehook(self._awaited[label])
        except Exception:
            self.detach()
            self.modules = {}  # for good
            self.failed("activation hook")


class _Gradient:
    """A hook on the node that made an output. It lives as long as the graph; one that nobody waits for does nothing."""

    def __init__(self, watch: ActivationWatch, label: str, rows: int, place: int) -> None:
        self.watch, self.label, self.rows, self.place = watch, label, rows, place

    def __call__(self, gradients: tuple[Tensor | None, ...]) -> None:
        if self.watch._awaited.get(self.label) is not self:
            return
        try:
            gradient = gradients[self.place]
            if gradient is not None and not transformed():
                self.watch.gradients[self.label] = gradient.detach()[: self.rows].clone()
        except Exception:
            self.watch._forget_gradients()
            self.watch.failed("gradients of activations")


class _Hook:
    """A forward hook of one layer. A copy or checkpoint of the layer made meanwhile gets one that does nothing."""

    def __init__(self, watch: ActivationWatch, label: str) -> None:
        self.watch, self.label = watch, label

    def __call__(self, layer: nn.Module, args: Any, output: Any) -> None:
        if not torch.compiler.is_compiling():
            self.watch.saw(self.label, layer, output)

    def __reduce__(self) -> tuple[Any, ...]:
        # Nothing of ours may end up in a checkpoint: it must load where rldebug is not installed.
        return getattr, (nullcontext(), "__exit__")


def transformed() -> bool:
    """Inside vmap or grad of torch.func: the tensors of a transformed pass mean nothing outside of it."""
    level = getattr(getattr(torch._C, "_functorch", None), "maybe_current_level", None)
    return level is not None and level() is not None


def compiling() -> bool:
    """Whether torch.compile is used anywhere in this program: of a plain module, a function, a whole update.

    A hook on a layer would make the code that calls it compile again, and once more when the hook is taken away.
    """
    frames, utils = sys.modules.get("torch._dynamo.eval_frame"), sys.modules.get("torch._dynamo.utils")
    backends = getattr(frames, "cached_backends", {}).values()
    return any(each is not None for each in backends) or bool(getattr(utils, "counters", {}).get("frames"))


def compiled(module: nn.Module) -> bool:
    if type(module).__name__ == "OptimizedModule":
        return True
    return any(getattr(each, "_compiled_call_impl", None) is not None for each in module.modules())
