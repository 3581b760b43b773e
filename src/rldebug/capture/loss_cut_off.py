"""Layers that a policy reads and only a regression trains: their output is detached on its way to the policy."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rldebug.capture.loss_nodes import Node, base_name, saved
from rldebug.capture.loss_term import Term
from rldebug.capture.loss_values import LAYER_INPUT, Reach

_WALK = 5_000  # nodes


def cut_off(policy: Term, terms: Sequence[Term], nodes: Sequence[Node | None]) -> set[int]:
    """The leaves of those layers: the policy takes in, as data, what they give to a regression of the same loss."""
    if policy.steps != 1 or not policy.parameters or not policy.inputs or policy.inputs[0].dim() < 2:
        return set()
    given = policy.inputs[0]
    fits = [
        (each, node)
        for each, node in zip(terms, nodes, strict=True)
        if each.kind == "regression" and each.rows == policy.rows and not each.parameters & policy.parameters
        if "index" not in each.arrays  # not of actions: with them it may be a critic off-policy
    ]
    if len(fits) != 1 or len([each for each in terms if each.kind == "regression"]) != 1:
        return set()
    fit, node = fits[0]
    trunk = Reach()
    trunk.below(_behind(node, given), _WALK)
    if trunk.cut or any(each.parameters & trunk.parameters for each in terms if each is not fit):
        return set()
    return trunk.parameters


def _behind(node: Node | None, given: Tensor) -> Node | None:
    """What made the tensor that a layer beneath takes in, where it is the given one."""
    todo, seen = [node] if node is not None else [], {node}
    while todo and len(seen) < _WALK:
        each = todo.pop()
        under = each.next_functions
        place, attribute = LAYER_INPUT.get(base_name(each), (None, ""))
        if place is not None and place < len(under) and under[place][0] is not None:
            taken = saved(each, attribute)
            if isinstance(taken, Tensor) and _same(taken, given):
                return under[place][0]
        for following, _ in under:
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return None


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype or one.device != other.device:
        return False
    return one.data_ptr() == other.data_ptr() or torch.equal(one, other)
