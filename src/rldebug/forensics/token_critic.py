"""What policy and critic are told of the same written tokens, in the first batch after they were written.

Before any step a critic is told returns minus what it said, and the policy is told the advantage, which is the same but
for a normalisation: whatever the program calls them, and in whatever form it holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.token_learned import from_place, row_weights
from rldebug.forensics.tokens import Pass, Round, rounds

Matrix = NDArray[np.float64]
_TOKENS = 40
_EXACT = 2e-3


@dataclass(frozen=True, eq=False)
class Told:
    """(rows, T) each, NaN where no token was written."""

    round: Round
    policy: Pass
    critic: Pass
    weight: Matrix  # of the log-prob of each token, with a plus where it is made more likely
    surprise: Matrix  # minus the gradient at the value: a multiple of target minus value
    value: Matrix
    next_value: Matrix  # also behind the last token
    divergence: Matrix | None  # log-prob of the policy minus that of the reference

    @property
    def written(self) -> NDArray[np.bool_]:
        return np.isfinite(self.weight) & np.isfinite(self.surprise)


@lru_cache(maxsize=4)
def told(script: Script) -> tuple[Told, ...]:
    return tuple(each for found in rounds(script) for each in _told(found))


def _told(each: Round) -> Iterator[Told]:
    policy = next((one for one in each.passes if one.at_once), None)
    critic = each.valued[0] if each.valued else None
    if policy is None or critic is None or policy.start != critic.start:
        return
    if not np.array_equal(policy.rows, critic.rows):
        return
    width = int(policy.length.max())
    weight = _weights(each, policy, width)
    if weight is None:
        return
    written = np.arange(width)[None, :] < policy.length[:, None]
    surprise = _at(critic, -np.asarray(critic.gradient.arrays["gradient"], dtype=np.float64), 0, width)
    said = np.asarray(critic.call.arrays["values"], dtype=np.float64)
    if written.sum() < _TOKENS or said.shape != critic.ids.shape:
        return
    weight, surprise = (np.where(written, one, np.nan) for one in (weight, surprise))
    value, later = _at(critic, said, 0, width), _at(critic, said, 1, width)
    yield Told(each, policy, critic, weight, surprise, value, later, _divergence(each, policy, width))


def _weights(each: Round, one: Pass, width: int) -> Matrix | None:
    """Of the loss; or, where its form is not known, of the gradient."""
    found = row_weights(each, one)
    pushed = _at(one, one.coefficient, 0, width)
    if found is None:
        return pushed
    found = found[:, :width]
    keep = np.isfinite(pushed) & np.isfinite(found)
    if keep.sum() < 8 or min(found[keep].std(), pushed[keep].std()) == 0:
        return pushed
    return found * (1.0 if float((found[keep] * pushed[keep]).sum()) > 0 else -1.0)


def _at(one: Pass, array: Matrix, shift: int, width: int) -> Matrix:
    """(rows, width) of (rows, places): at the places whose scores chose the written tokens, or `shift` further on."""
    return from_place(array, np.full(len(array), one.start - 1 + shift, dtype=np.int64), width)


def _divergence(each: Round, one: Pass, width: int) -> Matrix | None:
    """Beside the log-probs that the tokens were drawn with."""
    if each.reference is None:
        return None
    tokens = np.clip(one.writing.tokens[one.rows, :width], 0, None)
    own = np.take_along_axis(one.writing.logp[one.rows, :width], tokens[..., None], axis=2)[..., 0]
    return np.asarray(own - each.reference[one.rows, :width], dtype=np.float64)


def fitted(y: Matrix, columns: Sequence[Matrix]) -> tuple[Matrix, float]:
    """The factors that make y of these columns, and what is left over at most, beside the spread of y."""
    x = np.stack(columns, axis=1)
    scale = np.abs(x).max(axis=0)
    scale[scale == 0] = 1.0
    found, *_ = np.linalg.lstsq(x / scale, y, rcond=None)
    spread = float(y.std())
    rest = float(np.quantile(np.abs(x / scale @ found - y), 0.98))
    return found / scale, rest / spread if spread > 0 else np.inf


@dataclass(frozen=True, eq=False)
class Credit:
    """advantage[t] = reward[t] + discount value[t + 1] - value[t] + carried advantage[t + 1], exactly, inside answers;
    where the reward of a token is a multiple of how far it leaves the reference, or nothing."""

    told: Told
    discount: float
    carried: float
    penalty: float | None  # None where no reference is known
    rewards: Matrix  # (rows, T) of each token, where nothing is to come behind the last one


def recursion(each: Told) -> Credit | None:
    """From what the critic is told alone: needs no variable of the program."""
    inner = each.written[:, :-1] & each.written[:, 1:]
    if inner.sum() < _TOKENS:
        return None
    y = each.value[:, :-1][inner]
    columns = [each.surprise[:, :-1][inner], each.surprise[:, 1:][inner], each.value[:, 1:][inner]]
    if each.divergence is not None and float(np.abs(each.divergence[:, :-1][inner]).max()) > 1e-5:
        columns.append(each.divergence[:, :-1][inner])
    if not all(np.isfinite(one).all() and one.std() > 0 for one in (y, *columns)):
        return None
    found, rest = fitted(y, columns)
    if rest > _EXACT or found[0] >= 0:
        return None
    carried = -float(found[1] / found[0])
    if not -0.01 < carried < 1.01 or not -0.01 < found[2] < 1.01:
        return None
    better = -float(found[0]) * each.surprise
    later, last = (np.pad(one[:, 1:], ((0, 0), (0, 1)), constant_values=np.nan) for one in (better, each.value))
    inside = np.isfinite(later)
    rewards = better + each.value - np.where(inside, found[2] * last + carried * later, 0.0)
    return Credit(each, float(found[2]), carried, float(found[3]) if len(found) > 3 else None, rewards)


def told_of_another_place(each: Told) -> int:
    """1 or -1 where the target of the critic is the advantage and its value one place further on, or before; else 0."""
    keep = each.written.copy()
    y = each.weight[keep]
    plain = [each.surprise[keep], np.ones(int(keep.sum()))]
    if fitted(y, plain)[1] < 10 * _EXACT:
        return 0
    before = np.pad(each.value[:, :-1], ((0, 0), (1, 0)), constant_values=np.nan)
    for shift, other in ((1, each.next_value), (-1, before)):
        known = keep & np.isfinite(other)
        if known.sum() < _TOKENS:
            continue
        columns = [one[known] for one in (each.surprise, each.value, other)]
        found, rest = fitted(each.weight[known], [*columns, np.ones(int(known.sum()))])
        if rest < _EXACT and found[0] > 0 and found[1] > 0 and abs(found[1] + found[2]) < 0.02 * found[1]:
            return shift
    return 0


def normalised_by(each: Told) -> str:
    """ "answer" or "place" where advantages are moved or scaled in each of them by its own numbers; else ""."""
    keep = each.written
    if fitted(each.weight[keep], [each.surprise[keep], np.ones(int(keep.sum()))])[1] < 0.1:
        return ""
    for name, weight, surprise in (
        ("answer", each.weight, each.surprise),
        ("place", each.weight.T, each.surprise.T),
    ):
        parts = [
            fitted(one[known], [other[known], np.ones(int(known.sum()))])
            for one, other in zip(weight, surprise, strict=True)
            if (known := np.isfinite(one) & np.isfinite(other)).sum() >= 4 and np.ptp(one[known]) > 1e-9
        ]
        if len(parts) >= 4 and all(rest < _EXACT and found[0] > 0 for found, rest in parts):
            return name
    return ""


def returns_of_others(each: Told, returns: Matrix) -> float | None:
    """The share of the answers whose values are drawn to the returns of another answer, where all are drawn to one of
    these, by the same factor; None where they are not."""
    rows = np.flatnonzero(each.written.sum(axis=1) >= 3)
    width = min(each.value.shape[1], returns.shape[1])
    factors, own = [], []
    for row in rows:
        keep = each.written[row, :width]
        s = each.surprise[row, :width][keep]
        gap = returns[:, :width][:, keep] - each.value[row, :width][keep]
        if not np.isfinite(gap).all() or not (s @ s > 0):
            return None
        factor = gap @ s / (s @ s)
        rest = np.abs(gap - factor[:, None] * s).max(axis=1)
        best = int(np.argmin(rest))
        if rest[best] > _EXACT * max(float(np.abs(gap[best]).max()), 1e-6) or factor[best] <= 0:
            return None
        at = int(each.critic.rows[row])
        factors.append(float(factor[best]))
        own.append(bool(rest[at] <= max(2 * rest[best], 1e-5)))
    if len(rows) < 6 or np.ptp(factors) > 0.01 * float(np.median(factors)):
        return None
    return 1.0 - float(np.mean(own))
