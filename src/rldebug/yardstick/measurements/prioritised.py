"""Sampling in proportion to priorities and renewing them, with a sum-tree; and by going through all of them."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.timing import Measured, Timing
from rldebug.parts.buffers import PrioritisedReplay
from rldebug.yardstick.clock import race
from rldebug.yardstick.filled import filled
from rldebug.yardstick.shape import Shape, batch, observation, played, share

NAME = "prioritised"
DRAWS = (".choice", ".choices", ".multinomial")  # by which programs without a tree sample


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "buffer sample", "buffer write", "advantages", "other")  # hand-written trees too
    steps, lanes = played(timing)
    rows = batch(timing)
    if not concerned or not rows or timing.env_steps < rows:
        return None
    drawn = timing.of("buffer sample", "advantages", "other", where=lambda each: each.called.endswith(DRAWS))
    if not drawn and steps * lanes >= rows:
        return None  # learns from what it has just played
    width, dtype = observation(timing)
    return Shape(concerned, width=width, dtype=dtype, rows=rows, capacity=min(timing.env_steps, 1_000_000))


def prepare() -> None:
    import gymnasium.spaces  # noqa: F401

    buffer = filled(PrioritisedReplay, Shape(0.0, capacity=16))
    buffer.update(buffer.sample(2).index, np.ones(2))


def measure(shape: Shape) -> Measured:
    """`seconds` are of one `sample` and one `update` of priorities; `instead` is one draw by numpy from all of them."""
    buffer = filled(PrioritisedReplay, shape)
    random = np.random.default_rng(0)
    error = random.random(shape.rows)
    index = buffer.sample(shape.rows).index
    priority = random.random(shape.capacity)
    calls = {
        "sample": lambda: buffer.sample(shape.rows),
        "update": lambda: buffer.update(index, error),
        "scan": lambda: random.choice(shape.capacity, shape.rows, p=priority / priority.sum()),
    }
    detail = race(calls)
    what = f"rldebug.parts.buffers.PrioritisedReplay, sample and update of {shape.rows}, {buffer.capacity} rows"
    return Measured(NAME, what, detail["sample"] + detail["update"], instead=detail["scan"], detail=detail)
