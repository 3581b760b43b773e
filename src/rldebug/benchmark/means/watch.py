"""The program with the few lines of `rldebug.watch` that a user would add."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Base, Case
from rldebug.benchmark.means.means import REPORT, Means, rldebug
from rldebug.benchmark.program import arguments


def lacks(base: Base) -> str:
    return "" if base.watch else "nobody has written the lines of rldebug.watch for it"


def commands(case: Case) -> Sequence[Sequence[str]]:
    return [[case.base.entry, *arguments(case)], rldebug("report", "--json", REPORT)]


MEANS = Means("watch", "rldebug.watch, added by hand", lacks, commands, changes=lambda base: base.watch)
