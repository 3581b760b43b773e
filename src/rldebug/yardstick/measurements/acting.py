"""Forward passes of the acting network on few rows and on more, with gradients and without."""

from __future__ import annotations

import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.rebuilt import Rebuilt, described
from rldebug.yardstick.shape import Shape, actor, share

NAME = "acting"
ROWS = (1, 8, 32)


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "acting")
    network = actor(timing)
    return Shape(concerned, rows=network.acting_rows, networks=(network,)) if concerned and network else None


def measure(shape: Shape) -> Measured:
    """Detail: "8" and "8_grad" are the seconds of one pass of 8 rows.

    `seconds`, and `instead` with gradients, are of as many rows as the user's program acts on.
    """
    rebuilt = {rows: Rebuilt(shape.network, rows) for rows in sorted({*ROWS, shape.rows})}
    calls = {f"{rows}{way}": each.forward for rows, each in rebuilt.items() for way in ("", "_grad")}
    found = race(calls, device=shape.network.device, around=lambda name: torch.set_grad_enabled(name.endswith("_grad")))
    detail = {name: seconds * rebuilt[int(name.removesuffix("_grad"))].times for name, seconds in found.items()}
    what = f"forward of {described(shape.network)}, batch of {shape.rows}"
    return Measured(NAME, what, detail[str(shape.rows)], instead=detail[f"{shape.rows}_grad"], detail=detail)
