"""Numbers of the program with one entry for each written token: which are rewards, values and returns.

Told by what they are to each other, not by what they are called: returns obey a recursion with rewards and values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.token_learned import Learned, from_place, learned
from rldebug.forensics.token_places import bare
from rldebug.forensics.tokens import Pass, Round, Writing, rounds

Matrix = NDArray[np.float64]
_MATRICES = 12
_EXACT = 1e-4


@dataclass(frozen=True, eq=False)
class Table:
    """The matrices (answers × places) and vectors (answers) that lay around in one round."""

    round: Round
    length: NDArray[np.int64]  # (B,) tokens of each answer; -1 where it was in no pass
    ended: NDArray[np.bool_]
    logp: Matrix  # (B, T) of the sampler, NaN after the end
    matrices: list[tuple[str, Matrix]]
    vectors: list[tuple[str, Matrix]]
    held: list[tuple[str, Matrix]]  # the matrices that are variables of the program
    learned: Learned | None

    @property
    def written(self) -> NDArray[np.bool_]:
        return np.arange(self.logp.shape[1])[None, :] < self.length[:, None]

    @cached_property
    def returns(self) -> Recursion | None:
        return _recursion(self)


@dataclass(frozen=True, eq=False)
class Recursion:
    """returns[t] = reward[t] + (a - b) value[t + 1] + b returns[t + 1], exactly, within answers."""

    names: tuple[str, str, str]
    returns: Matrix
    rewards: Matrix
    values: Matrix
    value_factor: float
    returns_factor: float


@lru_cache(maxsize=4)
def tables(script: Script) -> tuple[Table, ...]:
    made = (_table(each) for each in rounds(script) if len(each.writings) == 1 and each.passes)
    return tuple(each for each in made if each is not None)


def _table(each: Round) -> Table | None:
    writing = each.writings[0]
    count, width = writing.tokens.shape
    length, ended = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=bool)
    logp = np.full((count, width), np.nan)
    for one in each.passes:
        for row in np.flatnonzero(one.rows >= 0):
            at, steps = int(one.rows[row]), np.arange(min(int(one.length[row]), width))
            length[at], ended[at] = len(steps), one.ended[row]
            logp[at, steps] = writing.logp[at, steps, one.ids[row, one.start + steps]]
    if (length >= 0).sum() < 8:
        return None
    given = each.passes[0].call.arrays["ids"].shape[1] if each.passes[0].moved is not None else 0
    matrices: list[tuple[str, Matrix]] = []
    vectors: list[tuple[str, Matrix]] = []
    for name, array in each.held:
        if array.dtype.kind != "f":
            continue
        of_tokens = _of_tokens(array.astype(np.float64), writing, length, given) if array.ndim == 2 else None
        if of_tokens is not None and len(matrices) < _MATRICES:
            kept, into = of_tokens, matrices
        elif array.shape in ((count,), (count, 1)) and np.isfinite(array).all():
            kept, into = array.reshape(count).astype(np.float64), vectors
        else:
            continue
        if kept.std() > 0 and not any(np.array_equal(kept, other) for _, other in into):
            into.append((name, kept))
    held = list(matrices)
    found = learned(each)
    if found is not None:
        for name, kept in (("advantages", found.weight), ("the targets of the critic", found.target)):
            alike = bool((np.ptp(kept, axis=1) <= 1e-6).all())  # one number for each answer: of no token
            if np.isfinite(kept).all() and not alike and not any(np.allclose(kept, one) for _, one in matrices):
                matrices.append((name, kept))
    return Table(each, length, ended, logp, matrices, vectors, held, found)


def _of_tokens(array: Matrix, writing: Writing, length: NDArray[np.int64], given: int) -> Matrix | None:
    """(answers, places) of a matrix with an entry for each written token, or for each token but the first."""
    count, width = writing.tokens.shape
    if len(array) != count:
        return None
    if array.shape[1] == width and np.isfinite(array).all():
        return array
    if writing.prompts is None:
        return None
    if writing.prompts.min() >= 0 and array.shape[1] == writing.prompts.shape[1] + width - 1:
        found = array[:, writing.prompts.shape[1] - 1 :]
        return found if np.isfinite(found).all() else None
    begin = np.array([len(each) for each in bare(writing.prompts)])
    own = np.isfinite(array).sum(axis=1)  # a list of vectors, filled up
    rows = length >= 0
    if array.shape[1] == given - 1 or (
        array.shape[1] > width and np.array_equal(own[rows], (begin + length - 1)[rows])
    ):
        found = from_place(array, begin - 1, width)
        return np.where(np.isfinite(found), found, 0.0)
    return None


def _recursion(table: Table) -> Recursion | None:
    inner = table.written[:, :-1] & (np.arange(table.logp.shape[1] - 1)[None, :] + 1 < table.length[:, None])
    if inner.sum() < 40:
        return None
    best: tuple[float, Recursion] | None = None
    for one, returns in table.matrices:
        y = returns[:, :-1][inner]
        spread = float(y.std())
        if spread == 0:
            continue
        for two, rewards in table.matrices:
            for three, values in table.matrices:
                if len({one, two, three}) < 3:
                    continue
                x = np.stack([rewards[:, :-1][inner], values[:, 1:][inner], returns[:, 1:][inner]], axis=1)
                if min(x.std(axis=0)) == 0:
                    continue
                found, *_ = np.linalg.lstsq(x, y, rcond=None)
                rest = float(np.abs(x @ found - y).max()) / spread
                plausible = abs(found[0] - 1) < 1e-3 and found[2] > 1e-3 and 0.3 < found[1] + found[2] < 1.01
                if rest < _EXACT and plausible and found[1] > -1e-3 and (best is None or rest < best[0]):
                    fit = Recursion((one, two, three), returns, rewards, values, float(found[1]), float(found[2]))
                    best = (rest, fit)
    return None if best is None else best[1]


def scores_at_the_end(table: Table) -> tuple[str, Matrix] | None:
    """The matrix of rewards: at the last token of every answer there is its score, which a vector holds too."""
    rows = np.flatnonzero(table.length > 0)
    last = table.length[rows] - 1
    for _, scores in table.vectors:
        for name, rewards in table.matrices:
            if len(rows) < 8 or len(np.unique(np.round(scores[rows], 6))) < 3:
                continue
            inner = np.arange(rewards.shape[1])[None, :] < table.length[:, None] - 1
            small = float(np.abs(rewards[inner]).mean()) < 0.5 * float(np.abs(scores).mean())
            if small and np.abs(rewards[rows, last] - scores[rows]).mean() < 0.05 * float(scores[rows].std()):
                return name, rewards
    return None


def pushes(each: Pass, width: int) -> tuple[NDArray[np.int64], Matrix]:
    """The rows of a pass in their writing, and (rows, T) what the log-prob of each written token is multiplied with."""
    seen = np.flatnonzero(each.rows >= 0)
    found = np.full((len(seen), width), np.nan)
    for place, row in enumerate(seen):
        steps = np.arange(min(int(each.length[row]), width))
        found[place, steps] = each.coefficient[row, each.start + steps - 1]
    return each.rows[seen], found
