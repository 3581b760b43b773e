"""The judge: passed, failed or undecided, from how near an algorithm came to the answer while it learned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rldebug.evidence.ladder import Attempt, Outcome
from rldebug.finding import thousands
from rldebug.probes.agent import Ended
from rldebug.probes.effort import Effort
from rldebug.probes.measure import Measured, size_of
from rldebug.probes.probe import Array, Probe

LEAST_STEPS, LEAST_UPDATES, LEAST_MOVED = 2000, 250, 5e-3  # before anything is called a failure
LEAST_TRIED = 20  # times that the right action was played: who never met it cannot have learned it
PASS_UPDATES, PASS_STEPS = 30, 12_000  # before anything is called passed; steps, where no optimizer was seen
TOLERANCE = {"value": 0.1, "policy": 0.3, "return": 0.4}
IN_THE_END = "in the end"  # of a run that came to its own end


@dataclass(frozen=True)
class Budget:
    """How long to try."""

    steps: int = 30_000  # of one attempt; probes may ask for more
    seconds: float = 60.0  # of one attempt
    seeds: int = 5  # at most
    first_seed: int = 0


class Judge:
    """Looks at one attempt as it goes on."""

    def __init__(self, probe: Probe, tolerance: float, budget: Budget) -> None:
        self.probe, self.tolerance, self.budget = probe, tolerance, budget
        self.history: list[tuple[int, float]] = []
        self.seen: list[Measured] = []
        # Along a chain news travels one state at a time: the more states, the more it takes.
        self.least_updates = LEAST_UPDATES * max(1.0, len(probe.looks) / 4)

    def add(self, steps: int, measured: Measured) -> None:
        self.history.append((steps, measured.error))
        self.seen.append(measured)

    @property
    def last(self) -> Measured | None:
        return self.seen[-1] if self.seen else None

    @property
    def noise(self) -> float:
        """How much what is measured moves from one look to the next, apart from any drift."""
        errors = [error for _, error in self.history[-5:]]
        return float(np.std(np.diff(errors)) / math.sqrt(2)) if len(errors) >= 4 else 0.0

    def settled(self, table: str) -> Array | None:
        """The mean of the last two where both were right; else of the last four: single looks jitter."""
        right = max((error for _, error in self.history[-2:]), default=math.inf) <= self.tolerance
        return _mean([getattr(each, table) for each in self.seen[-2 if right else -4 :]])

    def decide(self, effort: Effort, seconds: float) -> tuple[Outcome, str] | None:
        """An outcome and its reason; None: go on."""
        errors = [error for _, error in self.history]
        steps = self.history[-1][0]
        if self.right_now() and self.probe.phase == self.probe.phases - 1 and self._has_learned(effort):
            return "passed", f"within {_share(min(max(errors[-2:]), self._smooth()))} after {thousands(steps)} steps"
        patience = self.probe.patience
        spent = steps >= self.budget.steps * patience or seconds >= self.budget.seconds * patience
        seen_steps = steps - self.history[0][0]
        had_its_chance = (
            len(errors) >= 8
            and seen_steps >= LEAST_STEPS * patience
            and (effort.updates >= self.least_updates or effort.updates == 0)
            and (effort.moved is None or effort.moved >= LEAST_MOVED)
        )
        tried = self.seen[-1].tried
        untried = tried is not None and tried < LEAST_TRIED and not self.probe.explores
        if had_its_chance and not untried and self._stuck():
            return (
                "failed",
                f"off by {_share(self._lately())} and no longer getting nearer, after {thousands(steps)} steps",
            )
        if not spent:
            return None
        if effort.updates and effort.moved == 0.0:
            return "failed", f"{thousands(effort.updates)} optimizer steps moved no weight"
        if not had_its_chance:
            return "undecided", self._means(effort, steps)
        if untried:
            return (
                "undecided",
                f"the right action was played {tried} times in {thousands(steps)} steps: it explores little",
            )
        if self._heading():
            return (
                "undecided",
                f"still off by {_share(self._lately())} after {thousands(steps)} steps, but getting nearer",
            )
        if self.noise > self.tolerance:
            return (
                "undecided",
                f"what it has learned jitters by {_share(self.noise)}: the learning rate may be too large",
            )
        if self._lately() > 2 * self.tolerance:
            return "failed", f"off by {_share(self._lately())} after {thousands(steps)} steps"
        return "undecided", f"off by {_share(self._lately())} after {thousands(steps)} steps: near, but not there"

    def at_its_end(self, end: Ended) -> tuple[Outcome, str]:
        """Where there will be no more to see."""
        if end.broke or not self.history:
            return ("crashed" if end.broke else "undecided"), str(end)
        off = f"off by {_share(self._lately())} {IN_THE_END}: {end}"
        if self.probe.phase == self.probe.phases - 1 and (self.right_now() or self.history[-1][1] <= self.tolerance):
            return "passed", f"within {_share(self.history[-1][1])} {IN_THE_END}: {end}"
        return ("failed" if end.had_its_chance and self._lately() > 2 * self.tolerance else "undecided"), off

    def _has_learned(self, effort: Effort) -> bool:
        """One of two actions is right by luck half of the time: who has not begun to learn has not passed."""
        if effort.updates:
            return effort.updates >= PASS_UPDATES
        # No optimizer of torch's so far: a table, another process, or a network that is still collecting.
        return abs(self.history[0][1] - self.history[-1][1]) > self.tolerance or self.history[-1][0] >= PASS_STEPS

    def right_now(self) -> bool:
        """Twice in a row; or, where single looks jitter about the answer, on average."""
        errors = [error for _, error in self.history]
        if len(errors) >= 2 and max(errors[-2:]) <= self.tolerance:
            return True
        return len(errors) >= 5 and self._smooth() <= 0.7 * self.tolerance

    def _smooth(self) -> float:
        """The error of the mean of the last tables: less than that of each, where they jitter about the answer."""
        lately = self.seen[-4:]
        value, right = _mean([each.value for each in lately]), self.seen[-1].right
        if self.probe.asks == "value" and value is not None and right is not None:
            return float(np.abs(value - right).max() / size_of(self.probe, right))
        return float(np.mean([each.error for each in lately]))

    def _means(self, effort: Effort, steps: int) -> str:
        if effort.updates < self.least_updates:
            return (
                f"only {thousands(effort.updates)} optimizer steps in {thousands(steps)} environment steps: settings "
                "unsuited to so small a problem (shorter rollouts, an earlier start of learning)"
            )
        moved = "" if effort.moved is None else f"{effort.moved:.2g} "
        rate = "" if effort.lr is None else f" at a learning rate of {effort.lr:g}"
        return f"no weights moved by more than {moved}in {thousands(effort.updates)} updates{rate}: too little to judge"

    def _quarters(self, errors: list[float]) -> list[float]:
        return [float(np.median(part)) for part in np.array_split(np.array(errors), 4)]

    def _trends(self) -> list[float]:
        return [each.error if each.trend is None else each.trend for each in self.seen]

    def _lately(self) -> float:
        return min(float(np.median([error for _, error in self.history[-3:]])), self._smooth())

    def _heading(self) -> bool:
        """The last quarter is nearer than the one before, beyond the noise: at the worst look, or on average."""
        for errors in ([error for _, error in self.history], self._trends()):
            before, last = self._quarters(errors)[2:]
            if last < before - max(0.03 * before, self.noise):
                return True
        return False

    def _stuck(self) -> bool:
        """Far off, and either resting there or going away from the answer."""
        before, last = self._quarters([error for _, error in self.history])[2:]
        if min(last, self._smooth()) <= 2 * self.tolerance or self._heading():
            return False
        resting = abs(last - before) <= max(0.1 * last, 2 * self.noise) and self.noise <= 0.25 * last
        leaving = last > before and last > 1.5 and len(self.history) >= 12
        settled = self._moving() <= max(0.1 * last, 3 * self.noise)
        return (resting and settled) or leaving

    def _moving(self) -> float:
        """How far the values moved between the last two quarters, at any look: an error may stay while they do not."""
        tables = [each.value for each in self.seen]
        right = self.seen[-1].right
        if right is None or any(each is None for each in tables):
            return 0.0
        before, last = (_mean(list(part)) for part in np.array_split(np.array(tables), 4)[2:])
        assert before is not None
        assert last is not None
        return float(np.abs(last - before).max() / size_of(self.probe, right))


def tolerance(probe: Probe, declared: Mapping[str, Any]) -> float:
    """Less than half of the way to the nearest known mistake, so that no mistake can pass for the answer."""
    usual = TOLERANCE[probe.asks]
    if probe.asks != "value":
        return usual
    right = probe.right(declared)
    if right is None:
        return usual
    size = size_of(probe, right)
    away = [float(np.abs(wrong - right).max()) / size for wrong in probe.wrong_answers().values()]
    told = [each for each in away if each >= 0.05]  # nearer ones are for other probes to tell
    return min([usual, *(0.45 * each for each in told)])


def matched(probe: Probe, attempts: Sequence[Attempt], right: Array | None) -> tuple[str, ...]:
    """Known mistakes that lead to the values learned, nearest first."""
    tables = [each.value for each in attempts if each.value is not None]
    if probe.asks != "value" or not tables or right is None:
        return ()
    value = np.mean(tables, axis=0)
    size = size_of(probe, right)
    off = float(np.abs(value - right).max())
    found = []
    for name, wrong in probe.wrong_answers().items():
        scale = max(size, float(np.abs(wrong).max()))
        distance = float(np.abs(value - wrong).max())
        if distance <= 0.15 * scale and distance <= 0.5 * off:
            found.append((distance / scale, name))
    return tuple(name for _, name in sorted(found))


def _mean(tables: Sequence[Array | None]) -> Array | None:
    kept = [each for each in tables if each is not None]
    return np.asarray(np.mean(kept, axis=0)) if kept else None


def _share(error: float) -> str:
    return f"{error:.0%}" if error >= 0.1 else f"{error:.1%}"
