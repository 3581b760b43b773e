"""Results on disk, by the key of their task: what is known is not done again."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from rldebug.benchmark.lines import append_line, read_lines
from rldebug.campaign.task import Failed, Keyed, Spread, Work
from rldebug.target import TargetError

Task = TypeVar("Task", bound=Keyed)


class Kept:
    """A folder of results, only ever appended to. Each process has a file of its own: several machines may add to it,
    and file systems that they share do not append at once."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise TargetError(f"{folder} is a file, expected a folder to keep results in")
        self.folder = folder
        self.known: dict[str, Any] = {}
        for file in sorted(folder.glob("*.jsonl")):
            self.known |= {each["key"]: each["result"] for each in read_lines(file) if {"key", "result"} <= each.keys()}

    def add(self, key: str, result: Any) -> None:
        self.known[key] = result
        self.folder.mkdir(parents=True, exist_ok=True)
        host = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname()) or "here"
        append_line(self.folder / f"{host}-{os.getpid()}.jsonl", {"key": key, "result": result})

    def forget(self, keys: Iterable[str]) -> None:
        """Where the next campaign is to ask anew; files of ours that hold nothing else go."""
        gone = set(keys)
        for file in sorted(self.folder.glob("*.jsonl")):
            if {each.get("key") for each in read_lines(file)} <= gone:
                file.unlink(missing_ok=True)
        self.known = {key: each for key, each in self.known.items() if key not in gone}


def complete(
    tasks: Iterable[Task],
    work: Work,
    spread: Spread,
    kept: Kept,
    progress: Callable[[int, int, Task, Any], None] = lambda done, of, task, result: None,
) -> dict[str, Any]:
    """The results of all tasks by key, each a JSON value or Failed. What failed is not kept: it is tried again with the
    next campaign."""
    wanted = {each.key: each for each in tasks}
    left = [each for key, each in wanted.items() if key not in kept.known]
    failed: dict[str, Failed] = {}
    for done, (task, result) in enumerate(spread(work, left), 1):
        if isinstance(result, Failed):
            failed[task.key] = result
        else:
            kept.add(task.key, result)
        progress(done, len(left), task, result)
    return {key: kept.known[key] if key in kept.known else failed[key] for key in wanted}


def part_of(tasks: list[Task], part: str | None) -> list[Task]:
    """`1/4`: the second of four parts, as the tasks of an array job count."""
    if part is None:
        return tasks
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    if found is None or not int(found[1]) < int(found[2]):
        raise TargetError(f"--part {part}: expected K/N, with K from 0 to N - 1: 0/4, 1/4, 2/4 and 3/4 are all")
    return tasks[int(found[1]) :: int(found[2])]
