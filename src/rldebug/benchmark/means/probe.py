"""The program on probe environments, instead of its own."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Base, Case
from rldebug.benchmark.means.means import REPORT, Means, rldebug

# What a user in a hurry would ask: the rungs that can be seen from outside a script, and not for long.
_RUNGS = "observed-action-reward,two-step-credit"
_SECONDS = "12"


def lacks(base: Base) -> str:
    return "" if base.probe else "no option of its own chooses the environment"


def commands(case: Case) -> Sequence[Sequence[str]]:
    how = case.base.probe
    limits = ["--probes", _RUNGS, "--seconds", _SECONDS, "--seeds", "2", "--jobs", "1", "--json", REPORT]
    return [rldebug("probe", case.base.entry, "--env-flag", how["env_flag"], *limits, "--", *how.get("args", ()))]


MEANS = Means("probe", "rldebug probe train.py --env-flag …", lacks, commands, cpu_seconds=300.0)
