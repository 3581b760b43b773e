"""Writing a step into arrays allocated once, and taking batches out; and the same with lists and deques.

Where a stretch of acting is at least as long as a batch, a rollout buffer; else a replay buffer.
"""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.parts.buffers import Replay, RolloutBuffer
from rldebug.yardstick.clock import race
from rldebug.yardstick.filled import MOST_BYTES, fields, filled, spaces
from rldebug.yardstick.shape import Shape, batch, observation, played, share

NAME = "rollout_buffer"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "buffer write", "buffer sample", "copies", "advantages", "other")  # hand-written ones too
    steps, lanes = played(timing)
    if not concerned or not steps:
        return None
    width, dtype = observation(timing)
    rows = batch(timing) or steps * lanes
    capacity = max(min(timing.env_steps, 1_000_000), rows)
    return Shape(concerned, steps=steps, lanes=lanes, width=width, dtype=dtype, rows=rows, capacity=capacity)


def prepare() -> None:
    import gymnasium.spaces  # noqa: F401


def measure(shape: Shape) -> Measured:
    """Detail: seconds of one `write` (a step of all lanes) and one `sample` (a batch); of a rollout also `take`, all.

    With lists: `stack` of a whole rollout; else `deque`, a batch of one. `seconds` and `instead` are of `take` and
    `stack`, where there is a rollout, else of `sample` and `deque`.
    """
    return _rollout(shape) if shape.steps * shape.lanes >= shape.rows else _replay(shape)


def _rollout(shape: Shape) -> Measured:
    row = shape.width * np.dtype(shape.dtype).itemsize * shape.lanes
    steps = max(1, min(shape.steps, MOST_BYTES // row, 4096))
    times = shape.steps / steps
    buffer = RolloutBuffer(steps, *spaces(shape), envs=shape.lanes)
    given = fields(shape, shape.lanes)
    del given["next_obs"]
    given |= {"value": given["reward"], "logp": given["reward"]}
    for _ in range(steps):
        buffer.add(**given)
    written = RolloutBuffer(steps, *spaces(shape), envs=shape.lanes)
    flat = buffer.flatten(buffer.rollout())
    own = torch.Generator().manual_seed(0)
    rows = min(shape.rows, steps * shape.lanes)
    listed = [{name: torch.as_tensor(each) for name, each in given.items()} for _ in range(steps)]

    def write() -> None:
        if written.full:
            written.clear()
        written.add(**given)

    def epoch() -> None:
        for _ in buffer.minibatches(flat, rows, generator=own):
            pass

    calls = {
        "write": write,
        "take": lambda: buffer.flatten(buffer.rollout()),
        "sample": epoch,
        "stack": lambda: {name: torch.stack([each[name] for each in listed]) for name in given},
    }
    detail = race(calls)
    detail |= {"take": detail["take"] * times, "stack": detail["stack"] * times}
    detail["sample"] /= -(-steps * shape.lanes // rows)
    what = f"rldebug.parts.buffers.RolloutBuffer, {shape.steps} × {shape.lanes} of {shape.width}"
    return Measured(NAME, what, detail["take"], instead=detail["stack"], detail=detail)


def _replay(shape: Shape) -> Measured:
    small = Replay(1024 * shape.lanes, *spaces(shape), envs=shape.lanes, seed=0)
    given = fields(shape, shape.lanes)
    buffer = filled(Replay, shape)
    own = random.Random(0)
    one = tuple(each[0] for each in given.values())
    kept = deque([one] * shape.capacity)

    def from_deque() -> list[torch.Tensor]:
        return [torch.as_tensor(np.array(column)) for column in zip(*own.sample(kept, shape.rows), strict=True)]

    calls = {"write": lambda: small.add(**given), "sample": lambda: buffer.sample(shape.rows), "deque": from_deque}
    detail = race(calls)
    what = f"rldebug.parts.buffers.Replay.sample, {shape.rows} of {buffer.capacity} rows of {shape.width}"
    return Measured(NAME, what, detail["sample"], instead=detail["deque"], detail=detail)
