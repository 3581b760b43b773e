"""Calling: the line of the training loop that an environment is stepped from."""

from __future__ import annotations

from collections.abc import Iterable

from rldebug.evidence.timing import Slice, Spot
from rldebug.finding import Where

_ENVIRONMENTS = ("environment", "wrapper", "vector")


def _is_function(spot: Spot) -> bool:
    """`collect(envs)` of the user's: what its first argument is, it is not."""
    owner, _, _ = spot.function.rpartition(".")
    return spot.kind == "user" and (not owner or owner.endswith("<locals>"))


def stepped_at(slices: Iterable[Slice]) -> Where:
    """The user's own line that most of the time is spent below, outside of environments of the user's own."""
    lines: dict[tuple[str, int], float] = {}
    for each in slices:
        place: tuple[str, int] | None = None
        for spot in each.stack:
            if (spot.role in _ENVIRONMENTS or spot.kind in _ENVIRONMENTS) and not _is_function(spot):
                break
            if spot.kind == "user":
                place = spot.file, spot.line
        if place is not None:
            lines[place] = lines.get(place, 0.0) + each.seconds
    if not lines:
        return Where()
    file, line = max(lines, key=lambda key: lines[key])
    return Where(file=file, line=line)
