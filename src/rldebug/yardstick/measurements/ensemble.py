"""Forward and backward of several equal networks: one after the other, and stacked into one."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import torch
from torch import nn

from rldebug.evidence.timing import Measured, Network, Timing
from rldebug.evidence.timings.copies import equal_parts
from rldebug.parts.ensemble import Ensemble
from rldebug.yardstick.clock import race
from rldebug.yardstick.layers import layers_of
from rldebug.yardstick.optimizers import family_of, with_gradients
from rldebug.yardstick.rebuilt import Rebuilt, described, loss_of
from rldebug.yardstick.shape import MOST_PARAMETERS, Shape, share, trained

NAME = "ensemble"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "loss", "backward", "target networks")
    if not concerned:
        return None
    counted: dict[Network, int] = {}
    for each in trained(timing):
        part, times = equal_parts(each)
        one = Network(
            *("", part, each.dtype, each.device, each.optimizer),
            training_rows=each.training_rows,
        )
        counted[one] = counted.get(one, 0) + times
    fit = [
        (one, copies)
        for one, copies in counted.items()
        if copies > 1 and one.training_rows and copies * one.parameters <= MOST_PARAMETERS and layers_of(one.shapes)
    ]
    if not fit:
        return None
    one, copies = max(fit, key=lambda each: each[1] * each[0].parameters)
    return Shape(concerned, rows=one.training_rows, copies=copies, networks=(one,))


def measure(shape: Shape) -> Measured:
    """Of `training`, forward and backward. Detail: `forward` and `forward_loop` without gradients, as of targets;
    `step` and `step_loop` of the optimizer."""
    rebuilt = [Rebuilt(shape.network, shape.rows, seed=i) for i in range(shape.copies)]
    first, number = rebuilt[0], count()
    stacked = Ensemble(lambda: rebuilt[next(number)].module, shape.copies)
    parameters: list[nn.Parameter] = [*stacked.parameters(), *(own for each in rebuilt for own in each.parameters)]

    def together() -> object:
        return stacked(*first.inputs)

    def in_a_loop() -> object:
        return [each.module(*first.inputs) for each in rebuilt]

    def learn_together() -> None:
        for parameter in parameters:
            parameter.grad = None
        loss_of(together()).backward()  # type: ignore[no-untyped-call]

    def learn_in_a_loop() -> None:
        for parameter in parameters:
            parameter.grad = None
        torch.stack([loss_of(each.module(*first.inputs)) for each in rebuilt]).sum().backward()  # type: ignore[no-untyped-call]

    one, kind = shape.network, family_of(shape.network.optimizer)
    as_one = replace(one, shapes=tuple((shape.copies, *each) for each in one.shapes))
    apart = replace(one, shapes=shape.copies * one.shapes)
    calls = {
        "training": learn_together,
        "training_loop": learn_in_a_loop,
        "forward": together,
        "forward_loop": in_a_loop,
        "step": kind(with_gradients(as_one), lr=1e-4).step,
        "step_loop": kind(with_gradients(apart), lr=1e-4).step,
    }
    found = race(calls, device=first.device, around=lambda name: torch.set_grad_enabled(name.startswith("training")))
    detail = {name: seconds if name.startswith("step") else seconds * first.times for name, seconds in found.items()}
    what = f"rldebug.parts.ensemble.Ensemble of {shape.copies} × ({described(shape.network)}), batch of {shape.rows}"
    return Measured(NAME, what, detail["training"], instead=detail["training_loop"], detail=detail)
