"""Which of the program's numbers the answers are weighted with, and which are what they earned.

A vector with one entry for each written answer, proportional to what its log-probs are pushed with, is the advantage,
whatever the program calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.token_learned import learned
from rldebug.forensics.tokens import Pass, Round, Writing, groups_of, rounds, written_places

_ROWS = 8  # answers with an advantage of their own
_SPREAD = 0.02  # relative, of the pushes within an answer: of one that is weighted as a whole


@dataclass(frozen=True, eq=False)
class Weighted:
    """A round whose answers are each weighted by one number."""

    round: Round
    writing: Writing
    passes: list[Pass]
    name: str
    advantage: NDArray[np.float64]  # (B,) in the order of writing
    groups: NDArray[np.int64]  # (B,) answers to the same prompt
    others: list[tuple[str, NDArray[np.float64]]]  # other numbers of the program, one for each answer

    def sums(self, sets: NDArray[np.int64]) -> float:
        """The largest mean of a set, beside the spread of all."""
        spread = float(self.advantage.std())
        means = [float(self.advantage[sets == each].mean()) for each in np.unique(sets)]
        return max(abs(each) for each in means) / spread if spread > 0 else 0.0


@lru_cache(maxsize=4)
def weighted(script: Script) -> tuple[Weighted, ...]:
    return tuple(_weighted(script))


def _weighted(script: Script) -> Iterator[Weighted]:
    for each in rounds(script):
        if len(each.writings) != 1 or not each.passes:
            continue
        writing = each.writings[0]
        groups = groups_of(writing)
        if groups is None:
            continue
        found = _advantage(each, writing) or _of_the_losses(each)
        if found is not None:
            name, values = found
            others = [(other, kept) for other, kept in _vectors(each, writing) if other != name]
            yield Weighted(each, writing, list(each.passes), name, values, groups, others)


def row_pushes(each: Pass) -> NDArray[np.float64]:
    """(B,) what the log-probs of an answer are multiplied with; NaN where not all of its places have the same."""
    found = np.full(len(each.ids), np.nan)
    written = written_places(each)["written"]
    for row in range(len(each.ids)):
        values = each.coefficient[row][written[row]]
        values = values[np.isfinite(values)]
        if len(values) and np.abs(values - np.median(values)).max() <= _SPREAD * abs(float(np.median(values))):
            found[row] = float(np.median(values))
    return found


def _advantage(each: Round, writing: Writing) -> tuple[str, NDArray[np.float64]] | None:
    """The vector whose entries have the sign and, up to the length of the answer, the size of the pushes."""
    rows, pushes, lengths, batch = [], [], [], []
    for number, one in enumerate(each.passes):
        if not one.at_once:
            continue
        found = row_pushes(one)
        seen = np.isfinite(found) & (one.rows >= 0)
        rows.append(one.rows[seen])
        pushes.append(found[seen])
        lengths.append(one.length[seen])
        batch.append(np.full(int(seen.sum()), number))
    if not rows or sum(len(part) for part in rows) < _ROWS:
        return None
    row, push = np.concatenate(rows), np.concatenate(pushes)
    length, part = np.concatenate(lengths).astype(np.float64), np.concatenate(batch)
    for name, values in _vectors(each, writing):
        if values.std() == 0 or np.any(values[row] * push < 0):
            continue
        if _one_factor(push, values[row], part) or _one_factor(push * length, values[row], part):
            return name, values
    return None


def _of_the_losses(each: Round) -> tuple[str, NDArray[np.float64]] | None:
    """The weight that every answer has in the losses themselves."""
    found = learned(each)
    rows = None if found is None else found.rows()
    return ("advantages", rows) if rows is not None and np.isfinite(rows).all() and rows.std() > 0 else None


def _one_factor(push: NDArray[np.float64], value: NDArray[np.float64], batch: NDArray[np.int64]) -> bool:
    """Whether they are the same up to a factor, which a batch has of its own."""
    several = 0
    for each in np.unique(batch):
        at = (batch == each) & (np.abs(value) > 1e-6)
        if at.sum() < 3:
            continue
        factor = push[at] / value[at]
        middle = float(np.median(factor))
        if middle <= 0 or np.abs(factor - middle).max() > 5 * _SPREAD * middle:
            return False
        several += len(np.unique(np.round(value[at], 6))) > 2
    return several > 0


def _vectors(each: Round, writing: Writing) -> list[tuple[str, NDArray[np.float64]]]:
    found: list[tuple[str, NDArray[np.float64]]] = []
    orders = _orders(each, writing)
    for name, array in each.held:
        one = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
        if one.ndim != 1 or len(one) != len(writing.tokens) or one.dtype.kind != "f" or not np.isfinite(one).all():
            continue
        values = one.astype(np.float64)
        holder = name.rpartition(".")[0]
        if holder in orders:
            values = values[orders[holder]]
        if not any(np.array_equal(values, other) for _, other in found):
            found.append((name, values))
    return found


def _orders(each: Round, writing: Writing) -> dict[str, NDArray[np.int64]]:
    """Of lists of objects that hold the tokens of one answer each: which of them each written answer is."""
    found: dict[str, NDArray[np.int64]] = {}
    lists = [
        (name.rpartition(".")[0], array) for name, array in each.held if array.ndim == 2 and array.dtype.kind == "i"
    ]
    for holder, array in lists:
        if not holder.endswith("[]") or holder in found or len(array) != len(writing.tokens):
            continue
        prompts = next((other for name, other in lists if name == holder and _has(other, writing.prompts)), None)
        if array is prompts or array.shape[1] > writing.tokens.shape[1]:
            continue
        order = np.full(len(array), -1, dtype=np.int64)
        for place, tokens in enumerate(array):
            length = int((tokens >= 0).sum())
            same = (writing.tokens[:, :length] == tokens[:length]).all(axis=1) & (order < 0)
            if prompts is not None:
                same &= (writing.prompts == prompts[place]).all(axis=1)
            if length and same.any():
                order[np.argmax(same)] = place
        if (order >= 0).all():
            found[holder] = order
    return found


def _has(array: NDArray[Any], prompts: NDArray[np.int32] | None) -> bool:
    """The same prompts, in whatever order."""
    if prompts is None or array.shape != prompts.shape:
        return False
    return np.array_equal(np.unique(array, axis=0), np.unique(prompts, axis=0))
