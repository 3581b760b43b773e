"""The program's text, read and not run."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Case
from rldebug.benchmark.means.means import REPORT, Means, rldebug


def commands(case: Case) -> Sequence[Sequence[str]]:
    return [rldebug("lint", ".", "--json", REPORT)]


MEANS = Means("lint", "rldebug lint .", lambda base: "", commands)
