"""A training step in float32 and in float64."""

from __future__ import annotations

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.rebuilt import Rebuilt, described
from rldebug.yardstick.shape import Shape, learner, share

NAME = "precision"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "acting", "loss", "backward", "optimizer")
    network = learner(timing, dtype="float64")
    if not concerned or network is None:
        return None
    return Shape(concerned, rows=network.training_rows, networks=(network,))


def measure(shape: Shape) -> Measured:
    """Forward and backward; `instead` is in float64."""
    rebuilt = {dtype: Rebuilt(shape.network, shape.rows, dtype=dtype) for dtype in ("float32", "float64")}
    found = race({dtype: each.step for dtype, each in rebuilt.items()}, device=shape.network.device)
    detail = {dtype: seconds * rebuilt[dtype].times for dtype, seconds in found.items()}
    what = f"training step of {described(shape.network)}, batch of {shape.rows}, float32"
    return Measured(NAME, what, detail["float32"], instead=detail["float64"], detail=detail)
