"""Forward hooks: what each layer puts out during a training forward pass. Attached only for the updates that ask."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from rldebug.rollout import Activations

_ROWS = 256  # of a batch; enough to call a unit dead, and small next to the activations themselves


@dataclass
class ActivationWatch:
    modules: Mapping[str, nn.Module]
    failed: Callable[[str], None]
    outputs: dict[str, Tensor] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
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
            if rows > (self.outputs[label].shape[0] if label in self.outputs else 0):
                # A copy: an in-place activation after this layer would change what we look at later.
                self.outputs[label] = output.detach()[:rows].clone()
                self.kinds[label] = type(layer).__name__
        except Exception:
            self.detach()
            self.modules = {}  # for good
            self.failed("activation hook")


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
