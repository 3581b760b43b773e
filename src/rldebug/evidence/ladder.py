"""Ladder: how an algorithm did on the probes, rung by rung. Facts; the rules draw the conclusions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Outcome = Literal["passed", "failed", "undecided", "crashed", "not applicable", "not run"]


@dataclass(frozen=True)
class Attempt:
    """One seed on one rung. Tables are by look, as last measured."""

    seed: int
    outcome: Outcome
    reason: str  # in words, with numbers
    steps: int  # of the environments
    updates: int  # optimizer steps
    lr: float | None  # the largest learning rate seen
    moved: float | None  # how far the weights came (rms of the tensor that came farthest); None: no optimizer was seen
    seconds: float
    error: float  # of what is asked: 0 is right, 1 as bad as not learning
    noise: float  # how much the measured table moves from one look at it to the next, in the same unit
    value: Array | None = None  # (looks,)
    policy: Array | None = None  # (looks, choices) chances, or (looks, 1) numbers
    frequencies: Array | None = None  # (looks, choices): what was played, lately
    returns: float | None = None  # mean return of the last episodes
    forbidden: float | None = None  # share of steps with an action that was not allowed
    envs: int = 1  # that the target made
    shows: tuple[str, ...] = ()  # which of value, q, policy, bonus it answers
    history: tuple[tuple[int, float], ...] = ()  # steps, error


@dataclass(frozen=True)
class Rung:
    """What all seeds say about one probe."""

    name: str
    number: int
    title: str
    asks: str  # value, policy, return
    outcome: Outcome
    reason: str
    looks: tuple[str, ...] = ()
    right: Array | None = None  # (looks,) values; (looks, choices) chances, or (looks, 1) numbers
    choices: Array | None = None
    attempts: tuple[Attempt, ...] = ()
    matched: tuple[str, ...] = ()  # known mistakes whose answer this is, nearest first
    returns: tuple[float, float] | None = None  # undiscounted, of acting at random and of acting best

    @property
    def deciding(self) -> Attempt | None:
        """The attempt that shows best what the verdict says."""
        same = [each for each in self.attempts if each.outcome == self.outcome] or self.attempts
        return same[-1] if same else None

    def mean(self, table: str) -> Array | None:
        """`value` or `policy`, over the attempts that decided."""
        tables = [getattr(each, table) for each in self.attempts if each.outcome == self.outcome]
        kept = [each for each in tables if each is not None]
        return np.mean(kept, axis=0) if kept else None


@dataclass(frozen=True)
class Ladder:
    target: str
    rungs: tuple[Rung, ...]
    declared: Mapping[str, Any] = field(default_factory=dict)  # gamma, lam, n_step, rollout: as the target says
    gamma: float | None = None  # as the values tell
    lam: float | None = None
    seconds: float = 0.0

    def __contains__(self, name: object) -> bool:
        return any(each.name == name for each in self.rungs)

    def __getitem__(self, name: str) -> Rung:
        for each in self.rungs:
            if each.name == name:
                return each
        return Rung(name, 0, name, "value", "not run", "not on this ladder")

    @property
    def first_failed(self) -> Rung | None:
        return next((each for each in self.rungs if each.outcome == "failed"), None)

    def failed(self, *names: str) -> bool:
        return any(self[name].outcome == "failed" for name in names)

    def passed(self, *names: str) -> bool:
        """All of them; what was not run, or could not be decided, did not pass."""
        return all(self[name].outcome == "passed" for name in names)
