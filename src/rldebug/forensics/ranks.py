"""Processes that train together: what they stepped with, and what they held, at the same update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rldebug.evidence.script import Script


@dataclass(frozen=True)
class Pair:
    """The same number on two ranks."""

    name: str
    update: int
    one: float
    other: float


def trainers(script: Script) -> list[Mapping[str, Any]]:
    """Processes below the first that updated something."""
    return [each for each in script.noted("child") if int(each.get("updates") or 0) > 0]


def ranks(script: Script) -> list[Mapping[str, Any]]:
    """Those that joined one group of more than one."""
    return [each for each in trainers(script) if int(each.get("world") or 1) > 1]


def together(members: Sequence[Mapping[str, Any]], what: str) -> list[Pair]:
    """Pairs of the first rank with each other one: of `weights`, `gradients` (norms of them) or `rates`."""
    found = []
    for other in members[1:]:
        mine, theirs = _numbers(members[0], what), _numbers(other, what)
        for key in sorted(set(mine) & set(theirs), key=lambda each: int(each.rpartition("@")[2])):
            name, _, update = key.rpartition("@")
            found.append(Pair(name, int(update), mine[key], theirs[key]))
    return found


def _numbers(member: Mapping[str, Any], what: str) -> dict[str, float]:
    if what == "weights":
        return {key: float(value) for key, value in (member.get("weights") or {}).items()}
    place = 0 if what == "gradients" else 1
    steps = member.get("steps") or {}
    return {key: float(value[place]) for key, value in steps.items() if value[place] is not None}
