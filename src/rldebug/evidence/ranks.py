"""Which run folders are the ranks of one job, and how each of them stands."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rldebug.evidence.alive import alive
from rldebug.evidence.folder import COUNT, RANK, TOGETHER

COLLECTIVE = "collective.json"
"""The file of a run folder that holds the last collective of a process."""
COLLECTIVE_SIZE = 1024  # bytes of it: the first says whether a call is under way
_MISSING = 3.0  # seconds that are waited for the folder of another rank
_PAUSE = 0.1


@dataclass(frozen=True)
class Member:
    """One rank of a job."""

    rank: int
    folder: Path
    meta: Mapping[str, Any]

    @property
    def here(self) -> bool:
        """Whether it ran on this machine: only then its process can be asked for."""
        return self.meta.get("host") in (None, socket.gethostname())

    @property
    def running(self) -> bool:
        return self.meta.get("state") == "running" and (not self.here or alive(self.meta.get("pid")))

    @property
    def lost(self) -> bool:
        """Killed, or its machine went down; of another machine it is not known."""
        return self.meta.get("state") == "running" and self.here and not alive(self.meta.get("pid"))


@dataclass(frozen=True)
class Job:
    """The ranks of one run that left a folder, by rank; `world`: how many there should be."""

    world: int
    members: Mapping[int, Member]

    @property
    def missing(self) -> list[int]:
        return [each for each in range(self.world) if each not in self.members]


def told_by_launcher() -> dict[str, Any]:
    """For run.json: who we are in a job of torchrun's, and which job; nothing where there is no other process."""
    rank, world = _whole(os.environ.get("RANK")), _whole(os.environ.get("WORLD_SIZE"))
    if rank is None or world is None or world < 2:
        return {}
    names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
    return {"rank": rank, "world": world, "job": " ".join(os.environ.get(each, "-") for each in names)}


def job_of(folder: Path) -> Job | None:
    """The job that a run folder belongs to: others beside it with the same name, of the same job, begun together. None
    where it is a process by itself."""
    own = _read(folder)
    if own is None or not isinstance(own.meta.get("world"), int) or own.meta["world"] < 2:
        return None
    stem = stem_of(folder.name)
    nearest: dict[int, tuple[tuple[float, bool, str], Member]] = {}
    for beside in folder.absolute().parent.iterdir():
        if not beside.name.startswith(stem) or stem_of(beside.name) != stem:
            continue
        other = _read(beside)
        if other is None or any(other.meta.get(each) != own.meta.get(each) for each in ("world", "job")):
            continue
        apart = abs(_began(other.meta) - _began(own.meta))
        alike = _count(beside.name) != _count(folder.name)
        if apart <= TOGETHER and other.rank != own.rank:
            found = ((apart, alike, beside.name), other)
            nearest[other.rank] = min(nearest.get(other.rank, found), found, key=lambda each: each[0])
    members = {own.rank: own, **{rank: each for rank, (_, each) in nearest.items()}}
    return Job(own.meta["world"], dict(sorted(members.items())))


def wait_for_ranks(folder: Path, seconds: float, waits: Callable[[Path], bool]) -> None:
    """Until all other ranks have written their end, or will not: `waits` says of one whether it hangs."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        job = job_of(folder)
        if job is None:
            return
        others = [each for each in job.members.values() if each.folder.name != folder.name]
        late = [each for each in others if each.running and not waits(each.folder)]
        if not late and (not job.missing or passed > _MISSING):
            return
        time.sleep(_PAUSE)


def stem_of(name: str) -> str:
    """The name that all ranks of a job have in common."""
    match = RANK.fullmatch(name)
    return match[1] if match is not None else COUNT.sub("", name)


def _count(name: str) -> str:
    match = RANK.fullmatch(name)
    found = match[3] if match is not None else (at := COUNT.search(name)) and at[0]
    return found or ""


def _read(folder: Path) -> Member | None:
    try:
        meta = json.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    rank = meta.get("rank") if isinstance(meta, dict) else None
    return Member(rank, folder, meta) if isinstance(rank, int) else None


def _began(meta: Mapping[str, Any]) -> float:
    try:
        return datetime.strptime(str(meta.get("started")), "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def last_collective(folder: Path) -> dict[str, Any] | None:
    """The last collective that a process called, and whether it came back from it (`waits`); None where it called
    none."""
    try:
        text = (folder / COLLECTIVE).read_bytes()[:COLLECTIVE_SIZE]
        told = json.loads(text[1:])
    except (OSError, ValueError):
        return None
    return {**told, "waits": text[:1] == b"!"} if isinstance(told, dict) and told.get("calls") else None
