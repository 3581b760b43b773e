"""What one rank does in `test_distributed.py`: `python ranks.py CASE FOLDER`. Each leaves `<rank>.pt` in the folder."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rldebug.parts.distributed import (
    LOST,
    RankLost,
    RanksDiffer,
    World,
    average_gradients,
    broadcast,
    check_equal,
    gather_moments,
    join,
    leave,
    step_on_first,
    total,
)

UPDATES = 3


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def rows(rank: int, update: int) -> torch.Tensor:
    """What a rank learns from: six rows, of its own."""
    return torch.randn(6, 3, generator=torch.Generator().manual_seed(100 * update + rank))


def train(world: World, scheme: str, *, mean: bool = True) -> list[torch.Tensor]:
    torch.manual_seed(world.rank)  # different weights on purpose: broadcast must repair that
    net = network()
    broadcast(net.parameters(), world)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for update in range(UPDATES):
        optimizer.zero_grad()
        net(rows(world.rank, update)).square().mean().backward()
        if scheme == "everybody":
            average_gradients(net.parameters(), world, mean=mean)
            optimizer.step()
        else:
            step_on_first(optimizer, net.parameters(), world, mean=mean)
        check_equal(net.named_parameters(), world)
    return [each.detach() for each in net.parameters()]


def message_of(kind: type[Exception], call: Callable[[], object]) -> str | None:
    try:
        call()
    except kind as error:
        return str(error)
    return None


def sound(world: World) -> dict[str, Any]:
    found: dict[str, Any] = {"world": (world.rank, world.size, str(world.device)), "again": join(device="cpu") == world}
    for scheme in ("everybody", "first"):
        found[scheme] = train(world, scheme)
        found[f"{scheme} sum"] = train(world, scheme, mean=False)

    summed, averaged = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(4))
    for each, mean in ((summed, False), (averaged, True)):
        each.grad = torch.arange(4.0) + world.rank
        average_gradients([each], world, mean=mean)
    found["sum"], found["mean"] = summed.grad, averaged.grad

    here, never, wide = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    wide.data = wide.data.double()
    wide.grad = torch.ones(2, dtype=torch.float64)
    if world.rank == 1:
        here.grad = torch.tensor([2.0, 4.0])
    average_gradients([here, never, wide], world)
    found["none"] = (here.grad, never.grad, wide.grad)
    found["all none"] = message_of(ValueError, lambda: average_gradients([never], world))

    buffers = [torch.tensor(2**62 + world.rank), torch.tensor([True, world.rank == 0]), torch.empty(0)]
    broadcast(buffers, world)
    found["buffers"] = buffers

    net = network()
    broadcast(net.parameters(), world)
    found["equal"] = message_of(RanksDiffer, lambda: check_equal(net.named_parameters(), world))
    if world.rank == world.size - 1:
        net[2].weight.data[1, 4] *= 1 + 1e-7  # the last bit
    found["tampered"] = message_of(RanksDiffer, lambda: check_equal(net.named_parameters(), world))
    swapped = torch.arange(8.0) if world.first else torch.arange(8.0).flip(0)
    found["swapped"] = message_of(RanksDiffer, lambda: check_equal({"head": swapped}, world, what="targets"))
    zeros = torch.zeros(8 * (1 + world.rank))
    found["longer"] = message_of(RanksDiffer, lambda: check_equal([zeros], world))
    more = [torch.zeros(2)] * (1 + world.rank)
    found["more"] = message_of(RanksDiffer, lambda: check_equal(more, world))
    found["more sent"] = message_of(RanksDiffer, lambda: broadcast(more, world))

    mine = {"return": 10.0 * (world.rank + 1), "episodes": 1} | ({"only": 3.0} if world.rank == 1 else {})
    found["total"] = total(mine, world)
    data = torch.randn(10 + 5 * world.rank, 3, generator=torch.Generator().manual_seed(world.rank)) + world.rank
    found["data"] = data
    moments = data.mean(0), data.var(0, unbiased=False), torch.tensor(float(len(data)))
    found["moments"] = gather_moments(*moments, world)
    nothing = torch.zeros(3), torch.ones(3), torch.tensor(0.0)
    found["one has seen nothing"] = gather_moments(*(moments if world.first else nothing), world)
    found["none has seen anything"] = gather_moments(*nothing, world)
    return found


def killed(world: World) -> dict[str, Any]:
    average_gradients([given()], world)
    if world.rank == world.size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    total({"return": 1.0}, world)
    return {}


def uneven(world: World, folder: Path) -> dict[str, Any]:
    average_gradients([given()], world)
    if world.first:
        average_gradients([given()], world)
    else:
        while not (folder / "0.pt").exists():  # alive, and elsewhere, until rank 0 has given up
            time.sleep(0.05)
    return {}


def given() -> nn.Parameter:
    parameter = nn.Parameter(torch.zeros(1))
    parameter.grad = torch.ones(1)
    return parameter


def main() -> None:
    case, folder = sys.argv[1], Path(sys.argv[2])
    world = join(timeout=2.0 if case == "uneven" else 30.0, device="cpu")
    try:
        found = {"sound": sound, "killed": killed, "uneven": lambda world: uneven(world, folder)}[case](world)
    except RankLost as lost:
        torch.save({"lost": str(lost)}, folder / f"{world.rank}.pt")
        sys.exit(LOST)
    torch.save(found, folder / f"{world.rank}.pt")
    leave()


if __name__ == "__main__":
    main()
