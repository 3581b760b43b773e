"""Clips: lines that limit gradients, and what they were seen to find."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from rldebug.evidence.script import Event, Script

_FOR_THE_LOG = 1e6  # a limit above it is there for the norm that comes back


@dataclass(frozen=True, eq=False)
class Clip:
    """A line of the program that clips."""

    events: tuple[Event, ...]
    modules: frozenset[str]
    limit: float  # the highest that was given

    @property
    def late(self) -> bool:
        """Whether the gradients were always those that a step had used."""
        known = [each["after_step"] for each in self.events if each.get("after_step") is not None]
        return bool(known) and all(known)

    @property
    def empty(self) -> bool:
        """Whether there never was a gradient."""
        return all(each["without"] == each["tensors"] or each.get("norm") == 0.0 for each in self.events)


@lru_cache(maxsize=8)
def clips_of(script: Script) -> tuple[Clip, ...]:
    """Lines that clip to a limit that can matter."""
    lines: dict[tuple[str, ...], list[Event]] = {}
    for _, event in script.events("clip"):
        limit = event.get("limit")
        if limit is not None and math.isfinite(limit) and limit < _FOR_THE_LOG and event.get("line"):
            # One helper may clip several networks: its line alone does not tell them apart.
            key = (str(event["line"][0]), str(event["line"][1]), *sorted(event.get("modules") or ()))
            lines.setdefault(key, []).append(event)
    return tuple(
        Clip(
            tuple(each),
            frozenset(module for event in each for module in event.get("modules") or ()),
            max(float(event["limit"]) for event in each),
        )
        for each in lines.values()
    )
