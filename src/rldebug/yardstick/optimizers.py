"""What a step of the user's optimizer is measured on."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from rldebug.evidence.timing import Network


def with_gradients(network: Network) -> list[torch.nn.Parameter]:
    """Parameters of the network's shapes, as a backward pass leaves them."""
    own = torch.Generator().manual_seed(0)
    dtype = getattr(torch, network.dtype)
    made = []
    for size in network.shapes:
        random = torch.randn(size, generator=own, dtype=torch.float32, device="cpu")
        made.append(torch.nn.Parameter(random.to(network.device, dtype)))
        made[-1].grad = made[-1].detach().clone()
    return made


def family_of(name: str) -> Any:
    """The user's own class, where it is one of torch's that knows these kinds; else Adam."""
    found = getattr(torch.optim, name, None)
    knows = inspect.isclass(found) and "foreach" in inspect.signature(found).parameters
    return found if knows else torch.optim.Adam
