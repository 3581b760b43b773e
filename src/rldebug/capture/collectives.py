"""Collectives: what a rank does together with others. Which calls it made is in a file of fixed size that survives
`kill -9`, so that of ranks that hang it can be said who waits where; gradients are sampled before and after they are
reduced, at the same steps on every rank.
"""

from __future__ import annotations

import json
import mmap
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from rldebug.capture.place import users_line
from rldebug.capture.rank_steps import RankSteps
from rldebug.capture.stand_in import stand_in
from rldebug.evidence.ranks import COLLECTIVE, COLLECTIVE_SIZE, last_collective, wait_for_ranks

GROUP = "collectives"
_LONG = 2.0  # seconds
_RECENT = 4  # calls before the last one
_RANKS = 10.0  # seconds that one waits for the others to write their ends
_NAMES = (
    "all_reduce", "broadcast", "barrier", "monitored_barrier", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "reduce", "reduce_scatter", "reduce_scatter_tensor", "gather", "gather_object", "scatter",
    "scatter_object_list", "broadcast_object_list", "all_to_all", "all_to_all_single",
)  # fmt: skip

watch: Collectives | None = None


def install(session: Any) -> None:
    global watch
    if not dist.is_available():
        return
    watch = mine = Collectives(session)
    from torch.distributed import distributed_c10d as home

    for name in _NAMES:
        original = getattr(home, name, None)
        if original is None:
            continue  # a torch that does not have it
        call = _collective(name, original)
        for owner in (home, dist):
            if getattr(owner, name, None) is original:
                session.switch.replace(GROUP, owner, name, lambda _, call=call: call)
    joined = _joining(home.init_process_group)
    for owner in (home, dist):
        session.switch.replace(GROUP, owner, "init_process_group", lambda _: joined)
    session.switch.when_undone(_forget)
    session.on_audit.append(lambda audit: mine.tell())
    session.on_finish.append(mine.tell)
    if dist.is_initialized():
        mine.join()


def _forget() -> None:
    global watch
    if watch is not None:
        watch.steps.end()
    watch = None


# ── stand-ins ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _joining(original: Any) -> Any:
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        mine = watch
        if mine is not None:
            mine.session.switch.guard(GROUP, mine.join)
        return result

    return stand_in(original, init_process_group)


def _collective(name: str, original: Any) -> Any:
    def collective(*args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is None or torch.compiler.is_compiling() or mine.inside.depth or not mine.session.switch.on(GROUP):
            return original(*args, **kwargs)
        mine.inside.depth += 1
        try:
            mine.session.switch.guard(GROUP, mine.before, name, args, kwargs)
            result = original(*args, **kwargs)
            mine.session.switch.guard(GROUP, mine.after)  # not where it failed: that is where it waited
            return result
        finally:
            mine.inside.depth -= 1

    return stand_in(original, collective)


class _Inside(threading.local):
    depth = 0  # collectives of objects call those of tensors


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────────────


class Collectives:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.inside = _Inside()
        self.steps = RankSteps(session, GROUP)
        self.counts: dict[str, int] = {}
        self.calls = 0  # of the group of all
        self.before_updates: dict[str, int] = {}  # those before the first optimizer step
        self.rank: int | None = None
        self.world: int | None = None
        self._file: mmap.mmap | None = None
        self._counted = False  # the one that is under way
        self._recent: deque[tuple[int, str, int | None, Any]] = deque(maxlen=_RECENT)  # those before it

    def join(self) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        if self.world > 1:
            self._file = _open(self.session.folder / COLLECTIVE)
            self.steps.begin(self.world)
        self.tell()

    def before(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        group = kwargs.get("group") or next((each for each in args if isinstance(each, dist.ProcessGroup)), None)
        self._counted = group is None or group is dist.group.WORLD
        self.counts[name] = self.counts.get(name, 0) + 1
        if not self.session.updates:
            self.before_updates[name] = self.before_updates.get(name, 0) + 1
        if not self._counted:
            return
        self.calls += 1
        numel, line = _numel(args, kwargs), users_line(4)
        told = {"calls": self.calls, "what": name, "numel": numel, "line": line}
        self._write({**told, "recent": list(self._recent)})
        self._recent.append((self.calls, name, numel, line))

    def after(self) -> None:
        if self._counted and self._file is not None:
            self._file[0:1] = b" "

    def _write(self, told: dict[str, Any]) -> None:
        if self._file is None:
            return
        told |= {"update": self.session.updates, "time": time.time()}
        text = json.dumps(told, separators=(",", ":"), default=str).encode()
        if len(text) >= COLLECTIVE_SIZE:
            text = json.dumps({**told, "recent": []}, separators=(",", ":"), default=str).encode()
        if len(text) < COLLECTIVE_SIZE:
            self._file[0:COLLECTIVE_SIZE] = (b"!" + text).ljust(COLLECTIVE_SIZE)

    def tell(self) -> None:
        if self.rank is None:
            return
        self.session.thing(
            "rank", "own", rank=self.rank, world=self.world, collectives=self.counts, calls=self.calls,
            before_updates=self.before_updates, phases=self.steps.phases, wrapped=self.steps.wrapped(),
        )  # fmt: skip


def _open(file: Path) -> mmap.mmap:
    with file.open("w+b") as opened:
        opened.write(b" {}".ljust(COLLECTIVE_SIZE))
        opened.flush()
        return mmap.mmap(opened.fileno(), COLLECTIVE_SIZE)


def _numel(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """Of what is sent: the first tensor."""
    found = next((each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)), None)
    return None if found is None else found.numel()


def hangs(folder: Path) -> bool:
    """Whether a process waits in a collective for longer than that takes."""
    last = last_collective(folder)
    return last is not None and last["waits"] and time.time() - float(last.get("time", 0.0)) > _LONG


def await_ranks(folder: Path) -> None:
    """Until the other ranks of a job have written their ends; not for one that hangs."""
    wait_for_ranks(folder, _RANKS, hangs)
