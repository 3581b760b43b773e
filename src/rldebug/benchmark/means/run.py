"""The program as it is, watched."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Case
from rldebug.benchmark.means.means import REPORT, Means, rldebug
from rldebug.benchmark.program import arguments


def records(case: Case) -> Sequence[Sequence[str]]:
    return [rldebug("run", "--record-only", "--name", "run", case.base.entry, *arguments(case))]


def commands(case: Case) -> Sequence[Sequence[str]]:
    # Apart from the recording: a report that must be there in three seconds leaves rules out on a busy machine.
    return [rldebug("report", "run", "--json", REPORT)]


MEANS = Means("run", "rldebug run train.py", lambda base: "", commands, records=records, cpu_seconds=180.0)
