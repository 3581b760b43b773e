"""Calls under torch.vmap. One network, given several batches at once: they are the rows of one large batch. An ensemble
that is mapped over its weights, and given one batch: it has several answers to each row, an output for each member.

Other transforms of torch.func have tensors that mean nothing outside of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def unmapped(module: nn.Module, value: Any) -> list[Tensor]:
    """The tensors in it, with the mapped axis as part of the first; none where they cannot be read."""
    functorch: Any = torch._C._functorch
    if functorch.maybe_current_level() != 1 or any(map(functorch.is_batchedtensor, module.parameters())):
        return []
    found: list[Tensor] = []
    for each in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(each, Tensor):
            continue
        if not functorch.is_batchedtensor(each) or functorch.maybe_get_level(each) != 1:
            return []
        inside = functorch.get_unwrapped(each)
        if functorch.is_functorch_wrapped_tensor(inside) or inside.dim() < 3:
            return []
        found.append(inside.movedim(functorch.maybe_get_bdim(each), 0).flatten(0, 1))
    return found


def is_ensemble(module: nn.Module) -> bool:
    functorch: Any = torch._C._functorch
    return functorch.maybe_current_level() == 1 and any(
        functorch.is_batchedtensor(each) for part in module.modules() for each in held_by(part)
    )


def held_by(part: nn.Module) -> list[Tensor]:
    own = vars(part)
    return [each for each in (*own["_parameters"].values(), own.get("weight")) if isinstance(each, Tensor)]


def given_to_all(value: Any) -> list[Tensor]:
    """The tensors that all members of an ensemble are given; none where each has a batch of its own."""
    functorch: Any = torch._C._functorch
    found: list[Tensor] = []
    for each in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(each, Tensor):
            continue
        if not functorch.is_functorch_wrapped_tensor(each):
            found.append(each)
            continue
        members = answers([each])
        if not members or not all(torch.equal(members[0], other) for other in members[1:]):
            return []
        found.append(members[0])
    return found


def answers(value: Any) -> list[Tensor]:
    """What an ensemble said, a tensor for each member; of several outputs those of the first member come first."""
    functorch: Any = torch._C._functorch
    given = [each for each in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(each, Tensor)]
    whole: list[Tensor] = []
    for each in given:
        inside = functorch.get_unwrapped(each) if functorch.is_batchedtensor(each) else None
        if inside is None or functorch.maybe_get_level(each) != 1 or functorch.is_functorch_wrapped_tensor(inside):
            return []
        whole.append(inside.movedim(functorch.maybe_get_bdim(each), 0))
    return [part for member in zip(*(each.unbind(0) for each in whole), strict=True) for part in member]
