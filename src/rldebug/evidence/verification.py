"""Verification: a user's function beside the reference, case by case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rldebug.finding import Where


@dataclass(frozen=True)
class Table:
    """The smallest case that tells, to be followed by hand: inputs, theirs, ours, a row for each step or sample."""

    case: str
    numbers: str  # what is the same for all rows: γ = 0.5, λ = 0.8
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wrong: tuple[int, ...] = ()  # rows where the two differ; the first is where to look


@dataclass(frozen=True)
class Verification:
    """What came of it. `matched` are the mistakes that, together, give just what the function gives."""

    oracle: str
    target: str
    outcome: Literal["right", "wrong", "unusable"]
    where: Where = field(default_factory=Where)
    formula: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)  # argument -> what it was taken for
    convention: tuple[str, ...] = ()  # layout, container, style: how it was called and what fits
    cases: int = 0
    drawn: int = 0  # of them drawn at random
    matched: tuple[str, ...] = ()
    message: str = ""  # what is wrong, where no known mistake explains it
    seen: str = ""
    expected: str = ""
    table: Table | None = None
    notes: tuple[str, ...] = ()  # worth knowing, whatever the outcome
    reason: str = ""  # why it could not be judged
    seconds: float = 0.0
