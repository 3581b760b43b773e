"""Which parameters a loss reaches, read off the autograd graph. The graph is walked, never run."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

_NODES = 100_000  # a graph through a long unrolled episode is not worth walking to its end


def reached(loss: Tensor, named: Mapping[int, str]) -> list[str] | None:
    """Names of the known parameters that `loss` depends on; None where the loss carries no graph or it is too long."""
    if loss.grad_fn is None:
        return None
    names: set[str] = set()
    seen = {loss.grad_fn}
    todo = [loss.grad_fn]
    while todo:
        if len(seen) > _NODES:
            return None
        node = todo.pop()
        variable = getattr(node, "variable", None)
        if variable is not None and id(variable) in named:
            names.add(named[id(variable)])
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return sorted(names)
