"""What a file on this shelf holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rldebug.benchmark.corpus import Base, Case, Change

REPORT = "{report}"  # in a command: the file it writes its report to


@dataclass(frozen=True)
class Means:
    """`commands`: run in the program's folder, each as words after `python`; those with `{report}` write a report."""

    name: str
    summary: str
    lacks: Callable[[Base], str]  # why a program cannot be asked this way, or nothing
    commands: Callable[[Case], Sequence[Sequence[str]]]
    changes: Callable[[Base], Sequence[Change]] = lambda base: ()  # what a user adds to the program for it
    files: Callable[[Base], Sequence[str]] | None = None  # which it looks at, where it is not the whole program
    records: Callable[[Case], Sequence[Sequence[str]]] | None = None  # commands before those, that leave run folders
    cpu_seconds: float = 120.0  # for each command


def file_of(target: str) -> str:
    return target.rpartition(":")[0]


def rldebug(*words: str) -> list[str]:
    return ["-m", "rldebug", *words]
