"""A step of the optimizer: tensor by tensor, over lists of tensors, and fused."""

from __future__ import annotations

import inspect

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import Call, race
from rldebug.yardstick.layers import layers_of
from rldebug.yardstick.optimizers import family_of, with_gradients
from rldebug.yardstick.rebuilt import Rebuilt
from rldebug.yardstick.shape import MOST_PARAMETERS, Shape, share, trained

NAME = "update"
KINDS: dict[str, dict[str, bool]] = {
    "for_loop": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
}


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "optimizer")
    fit = [each for each in trained(timing) if each.parameters <= MOST_PARAMETERS]
    if not concerned or not fit:
        return None
    network = max(fit, key=lambda each: each.parameters)
    return Shape(concerned, rows=network.training_rows, networks=(network,))


def measure(shape: Shape) -> Measured:
    """Detail: seconds by kind, and `forward_backward` where that can be told. `instead` is torch's default there."""
    network = shape.network
    family = family_of(network.optimizer)
    known = inspect.signature(family).parameters
    calls: dict[str, Call] = {
        kind: family(with_gradients(network), lr=1e-4, **options).step
        for kind, options in KINDS.items()
        if options.keys() <= known.keys()
    }
    kinds = list(calls)
    times = 1.0
    if shape.rows and layers_of(network.shapes):
        rebuilt = Rebuilt(network, shape.rows)
        calls["forward_backward"], times = rebuilt.step, rebuilt.times
    detail = race(calls, device=network.device)
    if "forward_backward" in detail:
        detail["forward_backward"] *= times
    quickest = min(kinds, key=lambda kind: detail[kind])
    what = (
        f"torch.optim.{family.__name__}, {quickest}, {network.parameters} parameters in {len(network.shapes)} tensors"
    )
    default = "for_loop" if network.device == "cpu" else "foreach"
    return Measured(NAME, what, detail[quickest], instead=detail[default], detail=detail)
