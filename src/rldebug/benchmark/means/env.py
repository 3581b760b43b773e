"""The program's own environment, played by agents that are known."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Base, Case
from rldebug.benchmark.means.means import REPORT, Means, file_of, rldebug

_LIMITS = ("--steps", "4000", "--seconds", "6")  # what a user in a hurry would give it


def lacks(base: Base) -> str:
    return "" if base.env_check else "no environment of its own, or none for Gymnasium"


def commands(case: Case) -> Sequence[Sequence[str]]:
    return [rldebug("env", case.base.env_check["target"], *_LIMITS, "--json", REPORT)]


def files(base: Base) -> Sequence[str]:
    return [file_of(each) for each in base.env_check.values()]


MEANS = Means("env", "rldebug env train.py:Environment", lacks, commands, files=files)
