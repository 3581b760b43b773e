"""What a loss has for each written token, whatever the program calls it: weight, mask, target of the critic.

The terms of the losses of a round are put together again, row by row, in the order in which answers were written.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event
from rldebug.forensics.tokens import Pass, Round

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Learned:
    """(B, T) each, in the order of writing; NaN where no loss of the round had one."""

    weight: Matrix  # with a plus where the token is made more likely
    mask: Matrix
    target: Matrix  # of the critic
    value: Matrix  # what the critic said, before any step

    def rows(self) -> NDArray[np.float64]:
        """(B,) the one weight of each answer; NaN where its tokens have several."""
        known = np.isfinite(self.weight)
        high, low = np.where(known, self.weight, -np.inf).max(axis=1), np.where(known, self.weight, np.inf).min(axis=1)
        one = known.any(axis=1) & (high - low <= 1e-6 * max(1.0, float(np.abs(self.weight[known]).max(initial=0.0))))
        return np.where(one, high, np.nan)


def learned(each: Round) -> Learned | None:
    """Of a round with one writing."""
    writing = each.writings[0]
    shape = (len(writing.tokens), writing.tokens.shape[1])
    weight, mask, target, value = (np.full(shape, np.nan) for _ in range(4))
    for one in each.passes:
        policy, critic = term_of(each, one, "policy"), term_of(each, one, "regression")
        if policy is not None and "weight" in policy.arrays and not policy.get("inverted"):
            sign = -1.0 if float(policy["scale"]) > 0 else 1.0
            found = of_places(one, policy.arrays["weight"], shape[1])
            if found is not None:
                _put(weight, one, sign * found)
                held = of_places(one, policy.arrays["mask"], shape[1]) if "mask" in policy.arrays else None
                _put(mask, one, np.ones_like(found) if held is None else held)
        if critic is not None and "target" in critic.arrays:
            found = of_places(one, critic.arrays["target"], shape[1])
            if found is not None:
                _put(target, one, found)
            said = of_places(one, critic.arrays["prediction"], shape[1]) if "prediction" in critic.arrays else None
            if said is not None and one.at_once:
                _put(value, one, said)
    if np.isnan(weight).all():
        return None
    return Learned(weight, mask, target, value)


def row_weights(each: Round, one: Pass) -> Matrix | None:
    """(rows, T) of one pass, in its own order."""
    policy = term_of(each, one, "policy")
    if policy is None or "weight" not in policy.arrays:
        return None
    width = one.writing.tokens.shape[1]
    found = of_places(one, policy.arrays["weight"], width)
    if found is None:
        return None
    written = np.arange(width)[None, :] < one.length[:, None]
    if one.moved is not None or len(policy.arrays["weight"]) % len(one.ids):
        found = np.where(written, found, 0.0)
    return found if np.isfinite(found).all() else None


def term_of(each: Round, one: Pass, kind: str) -> Event | None:
    """The term of a kind in the loss of this pass, where there is one only; or one that has a ratio."""
    found = [term for term in each.audit.terms(kind) if one.call.order < term.order < one.gradient.order]
    if len(found) > 1:
        found = [term for term in found if "ratio" in term.arrays]
    return found[0] if len(found) == 1 else None


def of_places(one: Pass, values: NDArray[np.generic], width: int) -> Matrix | None:
    """(rows, T) of an array with one entry for each written place, for each place, or for each row."""
    count, length = one.ids.shape
    if values.ndim != 1:
        return None
    flat = np.asarray(values, dtype=np.float64)
    if len(flat) % count:
        return _picked(one, flat, width)
    table = flat.reshape(-1, count).T if one.call.get("turned") else flat.reshape(count, -1)
    given = one.call.arrays["ids"].shape[1]
    if table.shape[1] == 1:
        return np.repeat(table, width, axis=1)
    first: NDArray[np.int64]
    if one.moved is not None:
        if table.shape[1] in (given - 1, given):
            first = one.start - one.moved - 1
        elif table.shape[1] == int(one.length.max()):
            first = np.zeros(count, dtype=np.int64)
        else:
            return _picked(one, flat, width)
    elif table.shape[1] == length - one.start:
        first = np.zeros(count, dtype=np.int64)
    elif table.shape[1] in (length - 1, given):
        first = np.full(count, one.start - 1, dtype=np.int64)
    else:
        return _picked(one, flat, width)
    return from_place(table, first, width)


def from_place(table: Matrix, first: NDArray[np.int64], width: int) -> Matrix:
    """(rows, width) of each row what begins at its own place; NaN behind its end."""
    at = first[:, None] + np.arange(width)[None, :]
    found = np.take_along_axis(table, np.clip(at, 0, table.shape[1] - 1), axis=1)
    return np.where((at >= 0) & (at < table.shape[1]), found, np.nan)


def _picked(one: Pass, flat: Matrix, width: int) -> Matrix | None:
    """Of one entry for each written token, row after row: what a mask has picked."""
    length = np.clip(one.length, 0, width)
    if (one.rows < 0).any() or len(flat) != int(length.sum()):
        return None
    written = np.arange(width)[None, :] < length[:, None]
    found = np.full(written.shape, np.nan)
    if one.call.get("turned"):
        found.T[written.T] = flat
    else:
        found[written] = flat
    return found


def _put(into: Matrix, one: Pass, values: Matrix) -> None:
    """The first time counts. The same answer, written twice to one prompt, may be met in two passes."""
    tokens, prompts = one.writing.tokens, one.writing.prompts
    for row in np.flatnonzero(one.rows >= 0):
        at = int(one.rows[row])
        if not np.isnan(into[at]).all():
            length = int(one.length[row])
            same = (tokens[:, :length] == tokens[at, :length]).all(axis=1) & np.isnan(into).all(axis=1)
            if prompts is not None:
                same &= (prompts == prompts[at]).all(axis=1)
            if not same.any():
                continue
            at = int(np.argmax(same))
        into[at] = values[row]
