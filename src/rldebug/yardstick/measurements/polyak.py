"""Target networks moved towards the others: parameter by parameter, and all in one call."""

from __future__ import annotations

import torch

from rldebug.evidence.timing import Measured, Network, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.shape import MOST_PARAMETERS, Shape, share, trained

NAME = "polyak"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "target networks")
    if not concerned:
        return None
    learning = trained(timing)
    followed = {each.shapes for each in learning}
    following = [each for each in timing.networks if not each.optimizer and each.shapes in followed]
    networks = tuple(following) or tuple(sorted(learning, key=lambda each: -each.parameters)[:1])
    if not networks or sum(each.parameters for each in networks) > MOST_PARAMETERS:
        return None
    return Shape(concerned, networks=networks)


def measure(shape: Shape) -> Measured:
    """Of one update of all target networks. Detail: `lerp` is a loop with one call for each parameter."""
    moved, towards = _tensors(shape.networks, 0), _tensors(shape.networks, 1)
    tau = 0.005

    def in_a_loop() -> None:
        for each, other in zip(moved, towards, strict=True):
            each.copy_(tau * other + (1 - tau) * each)

    def by_lerp() -> None:
        for each, other in zip(moved, towards, strict=True):
            each.lerp_(other, tau)

    with torch.no_grad():
        calls = {"foreach": lambda: torch._foreach_lerp_(moved, towards, tau), "loop": in_a_loop, "lerp": by_lerp}
        detail = race(calls, device=shape.network.device)
    count = sum(each.parameters for each in shape.networks)
    what = f"torch._foreach_lerp_, {count} parameters in {len(moved)} tensors"
    return Measured(NAME, what, detail["foreach"], instead=detail["loop"], detail=detail)


def _tensors(networks: tuple[Network, ...], seed: int) -> list[torch.Tensor]:
    own = torch.Generator().manual_seed(seed)
    return [
        torch.randn(size, generator=own, dtype=torch.float32, device="cpu").to(each.device, getattr(torch, each.dtype))
        for each in networks
        for size in each.shapes
    ]
