"""How much an algorithm has tried: its optimizers' steps, their learning rates, and how far the weights came.

A value that is still 0 after four thousand optimizer steps is a finding. After four it is none.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook


class Effort:
    """Counts while it is entered; only what happens in this process is seen."""

    def __init__(self) -> None:
        self.updates = 0
        self.lr: float | None = None
        self._start: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by the parameter's id; it is held, so ids stay

    def __enter__(self) -> Effort:
        self._handle = register_optimizer_step_pre_hook(self._before_step)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._handle.remove()

    @property
    def moved(self) -> float | None:
        """Root mean square of how far a tensor's weights came, of the tensor that moved most.

        Of that one, not of all: where a network sees nothing, most of its weights have no reason to move.
        """
        with torch.no_grad():
            squares = [
                float((parameter.detach() - start).double().square().mean())
                for parameter, start in self._start.values()
            ]
        return max(squares) ** 0.5 if squares else None

    def _before_step(self, optimizer: Optimizer, *_: Any) -> None:
        self.updates += 1
        for group in optimizer.param_groups:
            self.lr = max(self.lr or 0.0, float(group.get("lr", 0.0)))
            for parameter in group["params"]:
                if id(parameter) not in self._start:
                    self._start[id(parameter)] = (parameter, parameter.detach().clone())
