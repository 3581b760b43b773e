"""Epsilon: the share of steps that were taken at random, measured on what was executed, over the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.exploring import Steps, discrete, random_steps

_ALWAYS = 0.95  # share of steps for which the network was asked, from which it is asked for random ones, too


@dataclass(frozen=True, eq=False)
class Epsilon:
    """Steps in the order of time, each with whether it was random."""

    random: NDArray[np.bool_]
    update: NDArray[np.int64]  # optimizer steps before it
    audit: NDArray[np.int64]
    factor: float  # a random action is the best one by chance: those are not seen as random
    always: bool  # the network is asked for every step
    parts: tuple[Steps, ...]

    def share(self, keep: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Random steps, all steps, audits among these."""
        return int(self.random[keep].sum()), int(keep.sum()), len(np.unique(self.audit[keep]))

    @property
    def line(self) -> tuple[str, int] | None:
        return next((each.line for each in self.parts if each.line is not None), None)


@lru_cache(maxsize=8)
def epsilon_of(script: Script) -> Epsilon | None:
    """None where it cannot be told which steps were random; see random_steps."""
    found, count = random_steps(script), discrete(script)
    if found is None or count is None:
        return None
    asked = np.concatenate([each.asked for each, _ in found])
    always = bool(asked.mean() >= _ALWAYS)
    # Where random steps are taken without asking, what the network was asked for and did not get is another matter:
    # actions that are not allowed are passed over.
    random = np.concatenate([taken if always else ~each.asked for each, taken in found])
    return Epsilon(
        random=random,
        update=np.concatenate([each.updates for each, _ in found]),
        audit=np.concatenate([np.full(len(each), each.audit.number) for each, _ in found]),
        factor=count / (count - 1) if always else 1.0,
        always=always,
        parts=tuple(each for each, _ in found),
    )
