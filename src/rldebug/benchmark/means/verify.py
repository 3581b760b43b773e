"""Functions and classes of the program, beside oracles."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Base, Case
from rldebug.benchmark.means.means import REPORT, Means, file_of, rldebug


def lacks(base: Base) -> str:
    return "" if base.verify else "no function of it computes what an oracle knows"


def commands(case: Case) -> Sequence[Sequence[str]]:
    return [rldebug("verify", *each, "--json", REPORT) for each in case.base.verify.items()]


def files(base: Base) -> Sequence[str]:
    return [file_of(each) for each in base.verify.values()]


MEANS = Means(
    "verify", "rldebug verify COMPONENT train.py:function, for each that it has", lacks, commands, files=files
)
