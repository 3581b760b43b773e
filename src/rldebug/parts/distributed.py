"""Several processes that train one network: who takes part, how gradients and statistics are added up, how a lost
process ends the run with a message, and how the processes are started.

    world = join()                                   # alone when nobody started us with others
    broadcast(policy.parameters(), world)            # once: everybody starts from the weights of rank 0
    ...
    loss.backward()
    average_gradients(policy.parameters(), world)    # scheme 1: everybody steps
    optimizer.step()
    step_on_first(optimizer, policy.parameters(), world)    # scheme 2, instead: rank 0 steps, all get its weights
    check_equal(policy.named_parameters(), world)

Every function here that takes a `world` is called by all ranks, in the same order, as often; alone it costs nothing.
Started by `torchrun --nproc-per-node 4 -m …` or by `launch`.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

_CPU = torch.device("cpu")
LOST = 75  # exit code of a process that ended because another did: `launch` looks for the one that died first
START = 120.0  # seconds the processes have to find one another: importing torch on a busy machine takes its time
FINISH = 10.0  # seconds the processes have to save and end after Ctrl-C
END = 3.0  # seconds they have to end after one of them died


class RankLost(RuntimeError):
    """A collective failed: another rank died, or did not make the same call in time. The run cannot go on.

    A command that catches it should end with `sys.exit(LOST)`, so that `launch` names the rank that died first.
    """


class RanksDiffer(RuntimeError):
    """The ranks hold different tensors where they must hold the same. Raised on all ranks."""


@dataclass(frozen=True)
class World:
    """The processes that train together, and which of them this is."""

    rank: int = 0
    size: int = 1
    device: torch.device = _CPU

    @property
    def first(self) -> bool:
        """Whether this is rank 0: the one that prints, records and saves."""
        return self.rank == 0


def join(timeout: float = 30.0, device: str | torch.device | None = None) -> World:
    """Find the other processes, by what `torchrun` or `launch` left in the environment; without that, be alone.

    `device`: "cpu", "cuda", or None for cuda where there is one. Ranks have a GPU each (nccl), or share those there are
    (gloo, as on the CPU: nccl refuses two ranks on one GPU). `timeout`: seconds after which a collective that others
    do not take part in raises `RankLost`. Under nccl it is torch's watchdog that ends the process then.
    """
    wanted = torch.device(device if device is not None else "cuda" if torch.cuda.is_available() else "cpu")
    names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    missing = [name for name in names if name not in os.environ]
    if len(missing) == len(names) or os.environ.get("WORLD_SIZE") == "1":
        return World(0, 1, _own_gpu(wanted, 0))
    if missing:
        raise ValueError(
            f"join: {' and '.join(missing)} not set, though {' and '.join(n for n in names if n not in missing)} "
            "is: start all processes with torchrun, or set all four"
        )
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    local, here = int(os.environ.get("LOCAL_RANK", rank)), int(os.environ.get("LOCAL_WORLD_SIZE", size))
    world = World(rank, size, _own_gpu(wanted, local))
    if dist.is_initialized():  # joined before
        return world
    backend = "nccl" if wanted.type == "cuda" and here <= torch.cuda.device_count() else "gloo"
    start = timedelta(seconds=max(START, timeout))
    with _together("meeting of all ranks at the start", world):
        store, _, _ = next(rendezvous("env://", timeout=start))
        # A rank may still be importing. Without this wait `timeout` would have to cover that too.
        store.set(f"rldebug/{rank}", "here")
        store.wait([f"rldebug/{each}" for each in range(size)], start)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timedelta(seconds=timeout))
    if backend == "gloo":
        atexit.register(leave)  # its threads abort a process that ends, by an exception say, without this
    return world


def leave() -> None:
    """End the collectives of this process. Ranks may leave one after the other."""
    if dist.is_initialized():
        dist.destroy_process_group()


# ── gradients and weights ────────────────────────────────────────────────────────────────────────────────────────────


@torch.no_grad()
def average_gradients(parameters: Iterable[Tensor], world: World, *, mean: bool = True) -> None:
    """Replace every `.grad` by its mean (or sum) over ranks: one all-reduce of one flat bucket; then everybody steps.

    Starting from equal weights and equal optimizers, all ranks stay bit-equal. The mean over ranks is the gradient of
    the mean loss over all rows only where every rank has as many rows. A gradient that is None on some ranks counts
    as zeros there; one that is None on all stays None, so that the optimizer leaves that parameter alone.
    """
    parameters = list(parameters)
    bucket = _gradients(parameters, world)
    if world.size > 1:
        with _together("all-reduce of the gradients", world):
            dist.all_reduce(bucket)
        _set_gradients(parameters, bucket.div_(world.size) if mean else bucket)


@torch.no_grad()
def step_on_first(
    optimizer: torch.optim.Optimizer, parameters: Iterable[Tensor], world: World, *, mean: bool = True
) -> None:
    """Reduce the gradients to rank 0, step there, and broadcast the weights: one flat bucket each way.

    Only rank 0 has the averaged gradients, and an optimizer state worth saving: no other rank ever steps.
    """
    parameters = list(parameters)
    bucket = _gradients(parameters, world)
    if world.size > 1:
        with _together("reduce of the gradients to rank 0", world):
            dist.reduce(bucket, 0)
        if world.first:
            _set_gradients(parameters, bucket.div_(world.size) if mean else bucket)
    if world.first:
        optimizer.step()
    _send(parameters, world)


@torch.no_grad()
def broadcast(parameters: Iterable[Tensor], world: World) -> None:
    """Give every rank the values of rank 0. Buffers (`module.buffers()`) may be passed as well, of any dtype."""
    parameters = list(parameters)
    if world.size > 1:
        sizes = _gather(torch.tensor([len(parameters), sum(each.numel() for each in parameters)]), world)
        if (sizes != sizes[0]).any():  # different sizes would hang, or end in a crash without a word
            each = "; ".join(f"rank {rank} has {n} tensors, {m} numbers" for rank, (n, m) in enumerate(sizes.tolist()))
            raise RanksDiffer(f"broadcast: the ranks did not pass the same parameters: {each}")
    _send(parameters, world)


def _gradients(parameters: Sequence[Tensor], world: World) -> Tensor:
    """All gradients in one row, None as zeros; then, for each, whether there is one."""
    there = [each.grad is not None for each in parameters]
    if not any(there):
        raise ValueError(
            f"rank {world.rank}: none of the {len(parameters)} parameters has a gradient: reduce after backward(), "
            "before zero_grad(), and pass the parameters that the loss was computed from"
        )
    pieces = []
    for each in parameters:
        grad = each.grad
        if grad is not None and grad.layout != torch.strided:
            raise ValueError(
                f"a gradient of shape {tuple(grad.shape)} is {grad.layout}: only dense ones go in a bucket"
            )
        pieces.append(each.new_zeros(each.numel()) if grad is None else grad.reshape(-1))
    device, dtype = pieces[0].device, pieces[0].dtype
    # All there is the rule, and a tensor made from a list would wait for the GPU.
    flags = torch.ones(len(there), device=device, dtype=dtype) if all(there) else torch.tensor(there).to(device, dtype)
    return torch.cat([*pieces, flags])


def _set_gradients(parameters: Sequence[Tensor], bucket: Tensor) -> None:
    *chunks, flags = torch.split(bucket, [*(each.numel() for each in parameters), len(parameters)])
    anywhere: list[float] | None = None
    for number, (each, chunk) in enumerate(zip(parameters, chunks, strict=True)):
        if each.grad is not None:
            each.grad.copy_(chunk.view_as(each))
            continue
        anywhere = flags.tolist() if anywhere is None else anywhere
        if anywhere[number] > 0:
            each.grad = chunk.view_as(each).to(each.dtype, copy=True)


def _send(tensors: Sequence[Tensor], world: World) -> None:
    """Rank 0 sends, the others overwrite: one bucket per dtype, since none converts to another without loss."""
    if world.size == 1:
        return
    for dtype in dict.fromkeys(each.dtype for each in tensors):
        group = [each for each in tensors if each.dtype == dtype]
        bucket = torch.cat([each.reshape(-1) for each in group])
        with _together("broadcast of the weights from rank 0", world):
            dist.broadcast(bucket, 0)
        if not world.first:
            for each, chunk in zip(group, torch.split(bucket, [each.numel() for each in group]), strict=True):
                each.copy_(chunk.view_as(each))


# ── are the ranks equal? ─────────────────────────────────────────────────────────────────────────────────────────────


@torch.no_grad()
def check_equal(
    tensors: Mapping[str, Tensor] | Iterable[Tensor] | Iterable[tuple[str, Tensor]],
    world: World,
    *,
    what: str = "weights",
) -> None:
    """Raise `RanksDiffer`, on all ranks, unless every rank holds the same bits. NaNs are equal; 0 and −0 are not.

    Pass `module.named_parameters()` or a `state_dict()` to have the first tensor that differs named. Compares
    checksums: each rank sends three integers.
    """
    if world.size == 1:
        return
    pairs = tensors.items() if isinstance(tensors, Mapping) else tensors
    named = [each if isinstance(each, tuple) else (f"tensor {n}", each) for n, each in enumerate(pairs)]
    words = [_words(each).to(world.device) for _, each in named]
    everything = torch.cat(words) if words else torch.zeros(0, dtype=torch.int64)
    counts = torch.tensor([len(named), everything.numel()])
    rows = _gather(torch.cat([counts, _checksum(everything)]), world)
    others = [rank for rank in range(world.size) if not torch.equal(rows[rank], rows[0])]
    if not others:
        return
    if (rows[:, 0] == rows[0, 0]).all():
        sums = _gather(torch.cat([_checksum(each) for each in words]), world)
        differing = sums != sums[0]
        first = int(differing.any(0).int().argmax())
        ranks = differing[:, first].nonzero().flatten().tolist()
        where = f"first in {named[first][0]} {tuple(named[first][1].shape)} (on {_ranks(ranks)})"
    else:
        where = "; ".join(f"rank {rank} has {count} tensors" for rank, count in enumerate(rows[:, 0].tolist()))
    raise RanksDiffer(
        f"the {what} of {_ranks(others)} differ from those of rank 0: {where}. Likely causes: the ranks did not start "
        "from the same weights (call `broadcast` once, before the first step), a parameter is missing from the call "
        "that averages the gradients, gradients were changed after it, or the optimizers differ (learning rate, a step "
        "more on one rank)"
    )


def _words(tensor: Tensor) -> Tensor:
    """The raw bits as 64-bit integers, the last one filled up with zeros."""
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return torch.nn.functional.pad(raw, (0, -raw.numel() % 8)).view(torch.int64)


def _checksum(words: Tensor) -> Tensor:
    """Modulo 2⁶⁴. Each word counts by its place: a plain sum would not see two of them swapped."""
    place = torch.arange(words.numel(), device=words.device).mul_(2).add_(1)
    return place.mul_(words).sum(0, keepdim=True).add_(words.numel()).cpu()


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


# ── statistics ───────────────────────────────────────────────────────────────────────────────────────────────────────


def total(numbers: Mapping[str, float], world: World) -> dict[str, float]:
    """The sum of each number over ranks, the same on all. A name that a rank lacks counts as zero there.

    Pass sums and counts, and divide afterwards: the mean of means is wrong where the ranks finished different
    numbers of episodes. Also the way to stop together: `total({"stop": wants_to_stop}, world)["stop"] > 0`.
    """
    if world.size == 1:
        return dict(numbers)
    rows: list[Any] = [None] * world.size
    with _together(f"sum of {', '.join(numbers) or 'no numbers'}", world):
        dist.all_gather_object(rows, dict(numbers))
    return {name: sum(row.get(name, 0.0) for row in rows) for row in rows for name in row}


def gather_moments(mean: Tensor, var: Tensor, count: Tensor, world: World) -> tuple[Tensor, Tensor, Tensor]:
    """Merge running means and (population) variances over ranks; the result is bit-equal on all.

    Pass what this rank has seen since the last merge, and merge the result into the statistics all ranks share. Passing
    the shared statistics themselves again would count the common past once per rank.
    """
    if mean.shape != var.shape or count.numel() != 1:
        raise ValueError(
            f"gather_moments: mean {tuple(mean.shape)} and var {tuple(var.shape)} must have one shape, and count "
            f"{tuple(count.shape)} one element"
        )
    if world.size == 1:
        return mean, var, count
    row = torch.cat([each.detach().reshape(-1).to(torch.float64) for each in (count, mean, var)])
    rows = _gather(row.cpu(), world, what="gathering of the running statistics")
    n, means, variances = rows[:, :1], rows[:, 1 : 1 + mean.numel()], rows[:, 1 + mean.numel() :]
    seen = n.sum()
    if seen == 0:
        return mean, var, count
    merged = (n * means).sum(0) / seen
    spread = (n * (variances + (means - merged).square())).sum(0) / seen
    return merged.view_as(mean).to(mean), spread.view_as(var).to(var), seen.view_as(count).to(count)


def _gather(row: Tensor, world: World, *, what: str = "comparison of the ranks") -> Tensor:
    """A row `(n,)` on the CPU from each rank, `(size, n)`."""
    row = row.to(world.device if dist.get_backend() == "nccl" else "cpu")
    rows = [torch.empty_like(row) for _ in range(world.size)]
    with _together(what, world):
        dist.all_gather(rows, row)
    return torch.stack(rows).cpu()


@contextmanager
def _together(what: str, world: World) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    except RuntimeError as error:  # all that torch.distributed raises
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        reason = re.sub(r"^\[\S*\] ", "", first).split(". ")[0]  # without the C++ file, and the advice of the backend
        raise RankLost(
            f"rank {world.rank} of {world.size}: the {what} failed after {time.monotonic() - began:.1f} s ({reason}). "
            "Another rank died, or did not make the same call: its own message says why. This rank cannot go on alone; "
            "the run ends"
        ) from error


def _own_gpu(device: torch.device, local_rank: int) -> torch.device:
    if device.type != "cuda":
        return device
    if not torch.cuda.is_available():
        raise ValueError("join: device cuda was asked for, and torch finds none")
    if device.index is None:
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)  # before the first collective: nccl would otherwise put every rank on GPU 0
    return device


# ── starting ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def launch(arguments: Sequence[str], processes: int) -> int:
    """Run `python -m rldebug …arguments` in that many processes on this machine. Returns 0 if all ended well."""
    return run_ranks([sys.executable, "-m", "rldebug", *arguments], processes)


def run_ranks(command: Sequence[str], processes: int) -> int:
    """Run `command` once per rank, as torchrun does, and watch. When a rank dies the others are ended, and a message on
    stderr says which it was, and of what. Ctrl-C (or SIGTERM) reaches every rank once, as SIGINT; they then have
    `FINISH` seconds to save and end.

    Call it in the main thread. Each rank has its share of the cores in OMP_NUM_THREADS, unless that is set already: it
    has to be in the environment before numpy and torch are imported.
    """
    if processes < 1:
        raise ValueError(f"processes is {processes}, expected at least 1")
    environment = {
        "OMP_NUM_THREADS": str(max(1, _cores() // processes)),
        **os.environ,
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
    }
    asked: list[float] = []  # when the user asked to stop
    ranks: list[subprocess.Popen[bytes]] = []

    def stop(number: int, frame: FrameType | None) -> None:
        asked.append(time.monotonic())
        _send_signal(ranks, signal.SIGINT if len(asked) == 1 else signal.SIGKILL)

    signals = [each for each in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)) if each is not None]
    before = {each: signal.signal(each, stop) for each in signals}
    try:
        for rank in range(processes):
            own = {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            # A session of its own: a Ctrl-C in the terminal would otherwise reach each rank twice.
            ranks.append(subprocess.Popen(command, env=own, start_new_session=True))
        return _watch(ranks, asked)
    finally:
        _send_signal(ranks, signal.SIGKILL)
        for each in ranks:
            each.wait()
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(ranks: Sequence[subprocess.Popen[bytes]], asked: Sequence[float]) -> int:
    noticed: float | None = None  # when the first rank was seen to have failed
    while True:
        codes = [each.poll() for each in ranks]
        failed = {rank: code for rank, code in enumerate(codes) if code}
        now = time.monotonic()
        noticed = now if failed and noticed is None else noticed
        if all(code is not None for code in codes) or (asked and now > asked[0] + FINISH):
            break
        # A rank that ended because another did may be seen first: the one that died is then still on its way out.
        if noticed and not asked and (set(failed.values()) != {LOST} or now > noticed + END):
            break
        time.sleep(0.02)
    running = sum(code is None for code in codes)
    if asked:
        if running:
            print(f"{running} of {len(ranks)} ranks did not end within {FINISH:g} s and were killed", file=sys.stderr)
        return 130 if running or failed else 0
    if not failed:
        return 0
    _send_signal(ranks, signal.SIGTERM)
    deadline = time.monotonic() + END
    while any(each.poll() is None for each in ranks) and time.monotonic() < deadline:
        time.sleep(0.02)
    rank, code = min(failed.items(), key=lambda item: (item[1] == LOST, item[1] > 0))  # a signal comes from outside
    others = len(ranks) - 1
    rest = "" if not others else "; the other was ended" if others == 1 else f"; the other {others} were ended"
    print(f"rank {rank} of {len(ranks)} (pid {ranks[rank].pid}) {_how(code)}{rest}", file=sys.stderr, flush=True)
    return 128 - code if code < 0 else code


def _how(code: int) -> str:
    """What an exit code of `subprocess` says: negative ones are signals."""
    if code >= 0:
        return f"ended with exit code {code}: its own message is above"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (out of memory? see dmesg)" if -code == signal.SIGKILL else "")


def _send_signal(ranks: Iterable[subprocess.Popen[bytes]], number: int) -> None:
    for each in ranks:
        if each.poll() is None:
            each.send_signal(number)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # fewer than the machine has, in a container or a batch job
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_advice(processes_per_machine: int) -> str | None:
    """What to change where there are more threads than cores, which can be ten times slower; else None."""
    threads, cores = torch.get_num_threads(), _cores()
    if processes_per_machine * threads <= cores:
        return None
    seen = f"{processes_per_machine} processes with {threads} threads each share {cores} cores"
    if threads == 1:
        return f"{seen}: start at most {cores} processes"
    return (
        f"{seen}: set OMP_NUM_THREADS={max(1, cores // processes_per_machine)} in the environment that starts the "
        "processes, since it is read when numpy and torch are imported"
    )
