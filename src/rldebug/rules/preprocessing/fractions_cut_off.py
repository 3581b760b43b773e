"""Observations between 0 and 1 are made whole numbers on their way into the network."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FractionsCutOff(Rule):
    """Observations up to 1 become whole numbers on their way.

    ## What it checks
    The observations that a network acts on, beside what it is given for them: each number is that of the observation
    without its fraction, in all rows; and numbers that lie between -1 and 1, and vary, come in as 0 or as 1. Of
    pictures only the sum, the smallest and the largest number are held against each other. Exact.

    ## Why it matters
    All that lies between is 0 from there on: a level, a distance, a shade. The network cannot see it.

    ## Likely causes
    1. A cast to bytes or integers, as is done with pictures of 0 to 255, of numbers that are scaled to 1 already.
       Confirm: print the largest number before the cast.
    2. An array of integers is allocated, and the observation is written into it. Confirm: print its dtype.

    ## What to try first
    Leave the cast out, or multiply by 255 before it and divide after it.

    ## When it is fine
    Observations in wider ranges may be made whole on purpose, as cells of a grid: they are not judged.

    ## References
    NumPy, *Data types*: a cast to integers cuts fractions off.
    """

    code: ClassVar[str] = "PRE514"
    name: ClassVar[str] = "fractions-cut-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 48  # with a fraction
    least: int = 8  # different numbers of an element that came in as at most two

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: dict[str, list[tuple[Call, Array, Array]]] = {}
        for call in calls_of(evidence):
            if call.event.get("acting") and call.known.all() and (pair := _beside(call)) is not None:
                found.setdefault(call.module, []).append((call, *pair))
        most = 0
        for module, looks in found.items():
            event = looks[0][0].event
            if len({obs.shape[1] for _, obs, _ in looks}) != 1:
                continue
            obs, given = (np.concatenate([each[place] for each in looks]) for place in (1, 2))
            wide = looks[0][0].input is None
            broken = self._broken(obs, wide, event)
            most = max(most, int(broken.sum()))
            if broken.sum() < self.rows or not self._cut(obs, given, wide, event):
                continue
            yield self.finding(
                "observations between 0 and 1 are made whole numbers on their way into the network",
                where=event.where,
                seen=f"{module} is given whole numbers only, in {len(obs)} rows; {int(broken.sum())} of the "
                "observations have fractions, and lost them",
                expected="the numbers of the observation, or scaled ones",
                help="leave out the cast to integers, or scale to 255 before it",
                confidence=0.95,
            )
            return
        if most < self.rows:
            raise NotEnough(f"{most} observations with fractions that were acted on, needs {self.rows}")

    def _broken(self, obs: Array, wide: bool, event: Event) -> NDArray[np.bool_]:
        """Rows with a number that is not whole."""
        if wide:
            total = obs[:, 2] * _size(event)
            return np.asarray(np.abs(total - np.round(total)) > 0.1)
        return np.asarray((obs != np.round(obs)).any(axis=1))

    def _cut(self, obs: Array, given: Array, wide: bool, event: Event) -> bool:
        if wide:
            total = given[:, 2] * _size(event)
            whole = bool((np.abs(total - np.round(total)) < 0.05).all()) and bool((given[:, 2] < obs[:, 2]).any())
            inside = obs[:, 0].min() >= 0 and obs[:, 1].max() <= 1
            return whole and bool(inside) and bool((given[:, :2] == np.trunc(obs[:, :2])).all())
        if not (given == np.trunc(obs)).all():
            return False
        small = np.abs(obs).max(axis=0) <= 1
        many = np.array([len(np.unique(each)) for each in obs.T]) >= self.least
        return bool((small & many).any())


def _beside(call: Call) -> tuple[Array, Array] | None:
    """Observations of a call, and what was given for them: the numbers, or min, max, mean and spread of each row."""
    nodes = call.audit.nodes
    if call.input is not None:
        if nodes.obs.shape[1] != call.input.shape[1] or len(call.places) != len(call.input):
            return None
        obs, given = np.asarray(nodes.obs[call.places], dtype=np.float64), call.input
    elif call.stats is not None and len(call.stats) == len(call.places) and not nodes.obs.shape[1]:
        obs, given = np.asarray(nodes.obs_stats[call.places, :4], dtype=np.float64), call.stats
    else:
        return None
    keep = np.isfinite(obs).all(axis=1) & np.isfinite(given).all(axis=1)
    return obs[keep], given[keep]


def _size(event: Event) -> int:
    """Numbers of one row."""
    shape = event["inputs"][0]["shape"]
    return math.prod(shape[1:]) if len(shape) > 1 else math.prod(shape)
