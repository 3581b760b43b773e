"""A training step with and without anomaly mode."""

from __future__ import annotations

import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.rebuilt import Rebuilt, described
from rldebug.yardstick.shape import Shape, learner, share

NAME = "anomaly"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "loss", "backward")
    network = learner(timing)
    if not concerned or network is None or not timing.host.anomaly:
        return None
    return Shape(concerned, rows=network.training_rows, networks=(network,))


def measure(shape: Shape) -> Measured:
    """Forward and backward; `instead` is with anomaly mode."""
    rebuilt = Rebuilt(shape.network, shape.rows)
    found = race(
        {"off": rebuilt.step, "on": rebuilt.step},
        device=rebuilt.device,
        around=lambda name: torch.autograd.set_detect_anomaly(name == "on"),  # detect_anomaly() warns
    )
    detail = {name: seconds * rebuilt.times for name, seconds in found.items()}
    what = f"training step of {described(shape.network)}, batch of {shape.rows}, without anomaly mode"
    return Measured(NAME, what, detail["off"], instead=detail["on"], detail=detail)
