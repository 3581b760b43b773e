"""Gradients at the outputs of networks: how each row of what a network said is pushed by the loss, and which way.

Whatever form a loss is written in, this is what the network gets to feel. A hook on the node that made the output looks
on while the program's own backward pass runs by; it changes nothing, and is gone with the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rldebug.capture.matching import ROWS, to_numpy
from rldebug.capture.recording import WIDTH

GROUP = "networks"
_HOOKED = 48  # calls of one network, in one audit, that are looked at
_SEEN = 256  # gradients that are kept of one audit


class OutputGradients:
    def __init__(self, session: Any) -> None:
        self.session = session
        self._audit: int | None = None
        self._hooked: dict[str, int] = {}
        self._seen = 0

    def follow(self, name: str, outputs: Sequence[Tensor], count: int) -> None:
        """After a call was recorded, as the last event so far."""
        audit = self.session.audit
        if audit is None or count < 2 or not audit.events or audit.events[-1].kind != "call":
            return
        if audit.number != self._audit:
            self._audit, self._seen = audit.number, 0
            self._hooked.clear()
        if self._hooked.get(name, 0) >= _HOOKED:
            return
        self._hooked[name] = self._hooked.get(name, 0) + 1
        for place, each in enumerate(outputs[:3]):
            # On the node and not on the tensor: a tensor with hooks cannot be saved without a warning.
            if each.grad_fn is not None and each.numel() % count == 0:
                each.grad_fn.register_prehook(
                    _Hook(self, audit.number, len(audit.events) - 1, name, place, each.output_nr, count)
                )

    def saw(self, audit_number: int, call: int, name: str, place: int, count: int, gradient: Tensor) -> None:
        audit = self.session.audit
        if audit is None or audit.number != audit_number or self._seen >= _SEEN:
            return
        array = to_numpy(gradient)
        if array is None or array.dtype.kind != "f" or array.size % count:
            return
        self._seen += 1
        kept = array.reshape(count, -1)[:ROWS, :WIDTH].astype(np.float32)
        task = int(torch._C._current_graph_task_id())
        audit.event("gradient", {"module": name, "of": call, "output": place, "task": task}, {"gradient": kept})


class _Hook:
    """Runs in the program's backward pass: returns None, whatever happens."""

    __slots__ = ("audit", "call", "count", "name", "output", "place", "watch")

    def __init__(
        self, watch: OutputGradients, audit: int, call: int, name: str, place: int, output: int, count: int
    ) -> None:
        self.watch, self.audit, self.call, self.name = watch, audit, call, name
        self.place, self.output, self.count = place, output, count

    def __call__(self, gradients: Sequence[Tensor | None]) -> None:
        watch = self.watch
        session = watch.session
        if session.audit is None or self.output >= len(gradients):
            return
        gradient = gradients[self.output]
        if gradient is not None:
            with session.timed():
                session.switch.guard(
                    GROUP, watch.saw, self.audit, self.call, self.name, self.place, self.count, gradient
                )
