"""Processes that train together: what they stepped with, and what they held, at the same update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough

_EXACT = 2e-3  # of a gradient may be left over
Member = Mapping[str, Any]
"""What one rank did: a `child` note, see evidence/script.py."""


@dataclass(frozen=True)
class Pair:
    """The same number on two ranks."""

    name: str
    update: int
    one: float
    other: float


@dataclass(frozen=True)
class Reduced:
    """A step whose gradient is a multiple of the mean of what the ranks computed."""

    optimizer: str
    how: str  # class of the optimizer
    step: int
    update: int
    factor: float
    passes: int  # backward passes before it


def trainers(script: Script) -> list[Member]:
    """Processes below the first, or beside it, that updated something."""
    return [each for each in script.noted("child") if int(each.get("updates") or 0) > 0]


def ranks(script: Script) -> list[Member]:
    """Those that joined one group of more than one."""
    return [each for each in trainers(script) if int(each.get("world") or 1) > 1]


def all_ranks(script: Script) -> list[Member]:
    """The same, where none is missing; else none."""
    members = ranks(script)
    return members if members and len(members) == int(members[0].get("world") or 0) else []


def called(member: Member) -> str:
    return f"rank {member.get('rank', member.get('number'))}"


def together(members: Sequence[Member], what: str) -> list[Pair]:
    """Pairs of the first rank with each other one: of `weights`, `gradients` (norms of them) or `rates`."""
    found = []
    for other in members[1:]:
        mine, theirs = _numbers(members[0], what), _numbers(other, what)
        for key in sorted(set(mine) & set(theirs), key=lambda each: int(each.rpartition("@")[2])):
            name, _, update = key.rpartition("@")
            found.append(Pair(name, int(update), mine[key], theirs[key]))
    return found


def weights_apart(members: Sequence[Member], apart: float) -> tuple[int, list[tuple[str, int]]]:
    """How many steps of two ranks were compared number by number, and before which (optimizer, step) weights differ."""
    compared, differing = 0, []
    for other in members[1:]:
        for key, one, two in _both(members[0], other):
            a, b = _flat(one.get("weights")), _flat(two.get("weights"))
            if a is None or b is None or len(a) != len(b):
                continue
            compared += 1
            if np.abs(a - b).max() > apart * max(float(np.abs(a).max()), 1e-9):
                differing.append((key.rpartition("@")[0], int(one["step"])))
    return compared, sorted(differing, key=lambda each: each[1])


def reduced(members: Sequence[Member]) -> list[Reduced]:
    """Steps of which it is known what every rank computed, and what the gradient stepped with is of it."""
    found = []
    steps = [each.get("sampled") or {} for each in members]
    for key in set.intersection(*map(set, steps)) if steps else ():
        every = [each[key] for each in steps]
        local = [_flat(each.get("local")) for each in every]
        if any(each is None or len(each) != len(local[0]) for each in local):  # type: ignore[arg-type]
            continue
        mean = np.mean([each for each in local if each is not None], axis=0)
        first = every[0]
        # Clipped ones are scaled: as they were before tells more, unless they were clipped before they were reduced.
        for name in ("clipped", "stepped"):
            factor = _factor(_flat(first.get(name)), mean)
            if factor is not None:
                told = str(first["optimizer"]), str(first.get("how")), int(first["step"])
                found.append(Reduced(*told, int(first.get("update") or 0), factor, int(first.get("passes") or 1)))
                break
    return sorted(found, key=lambda each: (each.optimizer, each.step))


def steps_reduced(script: Script, least: int) -> tuple[list[Member], list[Reduced]]:
    """Every rank, and how the gradients of their steps were reduced. Raises NotEnough where that cannot be told."""
    members = all_ranks(script)
    if not members:
        raise NotEnough("not all processes of one group were watched")
    told = reduced(members)
    if len(told) < least:
        raise NotEnough(f"{len(told)} steps tell how gradients were reduced, needs {least}")
    return members, told


def _factor(used: NDArray[np.float64] | None, mean: NDArray[np.float64]) -> float | None:
    """used = factor · mean, exactly; None where it is not."""
    if used is None or len(used) != len(mean) or not np.isfinite(used).all():
        return None
    size = float(mean @ mean)
    if size == 0.0 or len(mean) < 2:
        return None
    factor = float(used @ mean) / size
    rest = float(np.linalg.norm(used - factor * mean))
    return factor if rest <= _EXACT * float(np.linalg.norm(used)) and factor > 0 else None


def _both(one: Member, other: Member) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    mine, theirs = one.get("sampled") or {}, other.get("sampled") or {}
    return [(key, mine[key], theirs[key]) for key in mine if key in theirs]


def _flat(rows: Any) -> NDArray[np.float64] | None:
    return None if not rows else np.array([one for each in rows for one in each], dtype=np.float64)


def _numbers(member: Member, what: str) -> dict[str, float]:
    if what == "weights":
        return {key: float(value) for key, value in (member.get("weights") or {}).items()}
    place = 0 if what == "gradients" else 1
    steps = member.get("steps") or {}
    return {key: float(value[place]) for key, value in steps.items() if value[place] is not None}
