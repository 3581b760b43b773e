"""Tasks of the tests, importable by workers: a number is squared; some kill their worker."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Number:
    value: int
    folder: str = ""  # where it is noted that it was begun
    deadly: int = 0  # so many times its worker is killed in the midst of it
    slow: float = 0.0

    @property
    def key(self) -> str:
        return f"number {self.value}"


def squared(task: Number, forked: bool) -> dict[str, int]:
    if task.folder:
        begun = Path(task.folder, f"{task.value}")
        with begun.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len(begun.read_text().split()) <= task.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(task.slow)
    if task.value < 0:
        raise ValueError(f"{task.value} is below 0")
    return {"squared": task.value**2}


def tries(folder: Path, value: int) -> int:
    return len((folder / str(value)).read_text().split())
