"""Filler after the end of episodes, and how much of it a loss pushes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.forensics.padded_episodes import Padded, padded_terms

_NOTHING = 1e-7  # of the largest push of a loss: rounding


@dataclass(frozen=True, eq=False)
class Pushes:
    rows: int  # of losses over padded episodes
    filler: int  # of them
    pushed: int  # of the filler
    example: Event | None


@lru_cache(maxsize=16)
def pushes(script: Script, kind: str) -> Pushes:
    """Over all terms of a kind that have a number for each row, filler or not."""
    rows = filler = pushed = 0
    example: Event | None = None
    for audit in script.audits:
        for call, term in padded_terms(audit):
            size = _sizes(call, term) if term["kind"] == kind else None
            if size is None:
                continue
            rows += len(size)
            filler += int(call.filler.sum())
            pushed += int((size[call.filler] > _NOTHING * max(float(size.max()), 1e-12)).sum())
            example = example or term
    return Pushes(rows, filler, pushed, example)


def _sizes(call: Padded, term: Event) -> np.ndarray | None:
    """By how much each row is pushed, up to a factor."""
    names = ("weight",) if term["kind"] == "policy" else ("prediction", "target")
    columns = [term.arrays.get(name) for name in names]
    if any(each is None or np.size(each) != call.count for each in columns):
        return None
    made = [np.ravel(each).astype(np.float64) for each in columns if each is not None]
    size = np.abs(made[0]) if len(made) == 1 else np.abs(made[0] - made[1])
    mask = term.arrays.get("mask")
    if mask is not None and np.size(mask) == call.count:
        size = size * np.abs(np.ravel(mask).astype(np.float64))
    return np.asarray(size) if np.isfinite(size).all() else None
