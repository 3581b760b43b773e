"""Deviations of Gaussian policies that get a gradient, that no optimizer holds, and that never change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Event, Script

_VALUES = 16  # that it has in all, of as many elements


@dataclass(frozen=True, eq=False)
class StillDeviation:
    losses: int
    updates: int
    first: Event | None
    still: bool  # it is trained by nobody, as far as can be seen
    plain: bool  # and is no nn.Parameter: a tensor with a gradient, that no module lists


def still_deviation(script: Script) -> StillDeviation:
    strays, plain, count, first = 0, 0, 0, None
    seen: set[float] = set()
    updates: set[int] = set()
    for _, term in script.terms("policy"):
        std = term.arrays.get("std")
        if term.get("family") != "normal" or std is None or not std.size or "strays" not in term.detail:
            continue
        count += 1
        strays += bool(term["strays"])
        plain += bool(term["strays"]) and term.get("plain") == term["strays"]
        updates.add(term.update)
        seen |= set(np.unique(np.asarray(std)).tolist()[:64])
        first = first or term
    trained = first is not None and any(script.owners(name) for name in first.get("reached") or ())
    still = strays == count > 0 and trained and len(seen) <= _VALUES
    return StillDeviation(count, len(updates), first, still, still and plain == count)
