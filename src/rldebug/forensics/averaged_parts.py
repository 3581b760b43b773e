"""Policy losses in which the log-prob of an action of several numbers is the mean over its numbers, not their sum.

Where a ratio is made of it, the log-prob of each row is computed anew from action, mean and deviation; where that
cannot be done, of another distribution than a Gaussian or of one that is squashed, the graph says over how many
elements a mean was taken. Without a ratio the loss is linear in all log-probs, and the graph says how they were added
up: by means alone, down to single numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script

_ROWS = 8
_NEAR = 1e-3  # of the spread of the log-probs: rounding of float32, of differences that were squared
_APART = 0.1  # of it, by which the sum must differ

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AveragedParts:
    """One loss of a policy whose actions have several numbers."""

    audit: Audit
    term: Event
    size: int  # numbers of an action
    averaged: bool
    ratio: bool
    beside: bool  # other terms of the loss reach the same network


def averaged_parts(script: Script) -> Iterator[AveragedParts]:
    for audit in script.audits:
        for _, terms in audit.losses:
            for term in terms:
                if term["kind"] != "policy" or term.get("cut"):
                    continue
                found = _by_ratio(audit, term) or _by_graph(audit, term) or _by_reduction(audit, term, terms)
                if found is not None:
                    yield found


def _by_ratio(audit: Audit, term: Event) -> AveragedParts | None:
    arrays = term.arrays
    logp = arrays.get("logp", arrays.get("logp_up_to_constant"))
    if "ratio" not in arrays or logp is None or not {"action", "mean", "std"} <= arrays.keys():
        return None
    action, mean, std = (np.asarray(arrays[name], dtype=np.float64) for name in ("action", "mean", "std"))
    count = np.size(logp)
    if not action.shape == mean.shape == std.shape or action.ndim != 2 or not (std > 0).all():
        return None
    size = action.shape[1]
    if size < 2 or count != len(action) or np.size(arrays["ratio"]) != count or count < _ROWS:
        return None
    if not _acted(audit, term, size):
        return None
    own: Array = np.ravel(logp).astype(np.float64)
    parts = -0.5 * ((action - mean) / std) ** 2 - np.log(std)
    whole, mean_of = parts.sum(axis=1), parts.mean(axis=1)
    spread = float(np.std(whole))
    if not np.isfinite(own).all() or spread < 1e-6:
        return None
    # Constants are left out of some, and stand in others.
    off_mean, off_sum = (float(np.std(own - each)) for each in (mean_of, whole))
    if off_mean <= _NEAR * spread and off_sum >= _APART * spread:
        return AveragedParts(audit, term, size, True, True, True)
    if off_sum <= _NEAR * spread:
        return AveragedParts(audit, term, size, False, True, True)
    return None


def _by_graph(audit: Audit, term: Event) -> AveragedParts | None:
    arrays = term.arrays
    taken = arrays.get("action", arrays.get("index"))
    if "ratio" not in arrays or "averaged" not in term.detail or taken is None or taken.ndim != 2:
        return None
    size = taken.shape[1]
    if size < 2 or not np.size(arrays["ratio"]) == len(taken) >= _ROWS or not _acted(audit, term, size):
        return None
    if term["averaged"] not in (0, size):
        return None
    return AveragedParts(audit, term, size, term["averaged"] == size, True, True)


def _by_reduction(audit: Audit, term: Event, terms: list[Event]) -> AveragedParts | None:
    arrays, rows = term.arrays, term.arrays.get("rows")
    # How many log-probs there are is told by what they are computed from.
    weight, own = arrays.get("weight"), arrays.get("mean", arrays.get("action"))
    if "ratio" in arrays or term.get("nested") or "target" in arrays or term["steps"] != 1 or term.get("pooled"):
        return None
    if rows is None or weight is None or own is None or len(rows) < _ROWS or "mask" in arrays:
        return None
    total = int(term["rows"])
    if total % len(rows) or np.size(weight) != total or np.size(own) != total:
        return None  # one row of the network for each action, and a log-prob for each of its numbers
    size = total // len(rows)
    if size < 2 or not _acted(audit, term, size):
        return None
    shape = list(term["shapes"].get("logp") or ())
    each = np.ravel(weight).astype(np.float64).reshape(len(rows), size)
    if not shape or shape[-1] != size or not np.allclose(each, each[:, :1]) or float(np.std(each[:, 0])) < 1e-9:
        return None  # with a weight for each number they are policies of their own
    beside = any(_weighed_against(term, other) for other in terms if other is not term)
    return AveragedParts(audit, term, size, term["reduction"] == "mean", False, beside)


def _weighed_against(term: Event, other: Event) -> bool:
    """Whether both train the same network. An entropy that is averaged in the same way keeps its proportion."""
    if other["kind"] == "entropy":
        return not (other["reduction"] == "mean" and other["rows"] == term["rows"])
    return bool(set(term.get("reached") or ()) & set(other.get("reached") or ()))


def _acted(audit: Audit, term: Event, size: int) -> bool:
    """Whether the environment is given as many numbers at once, of the rows that are known."""
    places = audit.nodes.index(term.arrays.get("rows", np.empty(0, dtype=np.int64)))
    known = places[places >= 0]
    return len(known) >= _ROWS and audit.nodes.action.shape[1] == size and bool(audit.nodes.acted[known].any())
