"""Calls under torch.vmap: one network, given several batches at once. They are the rows of one large batch.

Only where the network is the same for all of them. An ensemble that is mapped over its weights has several answers to
one row, and other transforms of torch.func have tensors that mean nothing outside of them.
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
