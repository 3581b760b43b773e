"""Which parameters a loss reaches, read off the autograd graph. The graph is walked, never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

_NODES = 100_000  # a graph through a long unrolled episode is not worth walking to its end


def reached(loss: Tensor, named: Mapping[int, str]) -> list[str] | None:
    """Names of the known parameters that `loss` depends on; None where the loss carries no graph or it is too long."""
    nodes = _nodes(loss)
    if nodes is None:
        return None
    variables = (getattr(node, "variable", None) for node in nodes)
    return sorted({named[id(each)] for each in variables if each is not None and id(each) in named})


def carried(loss: Tensor, given: Mapping[str, Tensor]) -> list[str]:
    """Names of the given tensors that `loss` was computed from with their graphs: gradients flow into them."""
    nodes = _nodes(loss) or set()
    return [name for name, each in given.items() if each.grad_fn is not None and each.grad_fn in nodes]


def _nodes(loss: Tensor) -> set[Any] | None:
    if loss.grad_fn is None:
        return None
    seen = {loss.grad_fn}
    todo = [loss.grad_fn]
    while todo:
        if len(seen) > _NODES:
            return None
        for following, _ in todo.pop().next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return seen
