"""What it costs to keep several processes equal: two schemes of `rldebug.parts.distributed`, and the usual loop.

    python bench/reduce.py [--updates N]

- everybody: one all-reduce of a flat bucket, and every rank steps (`average_gradients`)
- first: one reduce to rank 0, which steps, and one broadcast of the weights (`step_on_first`)
- per tensor: one all-reduce for each gradient, and every rank steps

With 2 and with 4 processes on this machine (gloo, one thread each), on networks of about 20 thousand and 2 million
parameters, Adam. The schemes take turns. An update is timed from a barrier until the last rank has its new weights;
computing the gradients is not in it. After every update the weights are compared across ranks: exits 1 if they differ.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from rldebug.parts.distributed import (
    RanksDiffer,
    World,
    average_gradients,
    broadcast,
    check_equal,
    join,
    leave,
    run_ranks,
    step_on_first,
)

WIDTHS = {"20 k": 128, "2 M": 1400}
SCHEMES = ("everybody", "first", "per tensor")


def network(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(17, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 6))


def update(scheme: str, net: nn.Module, optimizer: torch.optim.Optimizer, world: World) -> None:
    if scheme == "first":
        step_on_first(optimizer, net.parameters(), world)
        return
    if scheme == "everybody":
        average_gradients(net.parameters(), world)
    else:
        for parameter in net.parameters():
            assert parameter.grad is not None
            dist.all_reduce(parameter.grad)
            parameter.grad /= world.size
    optimizer.step()


def rank(width: int, updates: int, into: Path) -> None:
    world = join(device="cpu")
    torch.manual_seed(world.rank)
    runs = {}
    for scheme in SCHEMES:
        net = network(width)
        broadcast(net.parameters(), world)
        runs[scheme] = net, torch.optim.Adam(net.parameters(), lr=1e-3)
    times: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    for number in range(updates + 3):
        for scheme, (net, optimizer) in runs.items():
            optimizer.zero_grad()
            net(torch.randn(32, 17)).square().mean().backward()
            dist.barrier()
            began = time.perf_counter()
            update(scheme, net, optimizer, world)
            took = torch.tensor(time.perf_counter() - began)
            dist.all_reduce(took, dist.ReduceOp.MAX)
            check_equal(net.named_parameters(), world, what=f"weights after update {number} ({scheme})")
            if number >= 3:  # the first ones open connections and make the optimizer's state
                times[scheme].append(took.item())
    if world.first:
        into.write_text(json.dumps({scheme: 1e3 * statistics.median(each) for scheme, each in times.items()}))
    leave()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--rank", nargs=2, metavar=("WIDTH", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        try:
            rank(int(given.rank[0]), given.updates, Path(given.rank[1]))
        except RanksDiffer as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    print("ms per update, median, weights equal on all ranks after every one")
    print(f"{'processes':>9} {'parameters':>11} " + " ".join(f"{scheme:>11}" for scheme in SCHEMES))
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "times.json"
        for processes in (2, 4):
            for width in WIDTHS.values():
                count = sum(each.numel() for each in network(width).parameters())
                command = [sys.executable, __file__, "--updates", str(given.updates), "--rank", str(width), str(into)]
                if run_ranks(command, processes) != 0:
                    return 1
                times = json.loads(into.read_text())
                print(
                    f"{processes:>9} {count:>11,} " + " ".join(f"{times[each]:>11.2f}" for each in SCHEMES), flush=True
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
