"""Observations to tensors, and numbers back: at every step, and once for a whole batch."""

from __future__ import annotations

import numpy as np
import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.shape import Shape, actor, batch, observation, played, share

NAME = "conversion"
MOST = 4_000_000  # numbers in the batch


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "copies", "buffer write")
    steps, lanes = played(timing)
    if not concerned or not steps:
        return None
    width, dtype = observation(timing)
    network = actor(timing)
    rows = max(steps, batch(timing) // lanes)
    networks = (network,) if network else ()
    return Shape(concerned, steps=rows, lanes=lanes, width=width, dtype=dtype, networks=networks)


def measure(shape: Shape) -> Measured:
    """`seconds` are of one step's share of a batch, `instead` of a tensor made at that step and one `.item()`.

    Detail: `tensor`, `list` (of Python's numbers) and `as_tensor` of one step, `batch` of all, `item` of one number.
    """
    device = shape.network.device if shape.networks else "cpu"
    dtype = torch.float32
    random = np.random.default_rng(0)
    steps = max(1, min(shape.steps, MOST // (shape.lanes * shape.width)))
    many = (255 * random.random((steps, shape.lanes, shape.width), np.float32)).astype(shape.dtype)
    one, listed = many[0].copy(), many[0].tolist()
    number = torch.ones(1, dtype=dtype, device=device)
    calls = {
        "tensor": lambda: torch.tensor(one, dtype=dtype, device=device),
        "list": lambda: torch.tensor(listed, dtype=dtype, device=device),
        "as_tensor": lambda: torch.as_tensor(one, device=device),
        "batch": lambda: torch.as_tensor(many, device=device).to(dtype),
        "item": number.item,
    }
    detail = race(calls, device=device)
    detail["batch"] *= shape.steps / steps
    what = f"torch.as_tensor, {shape.steps} × {shape.lanes} × {shape.width} at once, per step"
    return Measured(NAME, what, detail["batch"] / shape.steps, detail["tensor"] + detail["item"], detail)
