"""Lines of the user's that lead to something, outermost first, and how two such ways lie to one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.in_environment import of_environment
from rldebug.evidence.timings.libraries import told

Line = tuple[str, str, int]  # file, function, line
Way = list[Line]


def line_of(spot: Spot) -> Line:
    return spot.file, spot.function, spot.line


def ways(slices: Iterable[Slice]) -> list[Way]:
    """The lines that lead to something, each way once."""
    found: dict[tuple[Line, ...], None] = {}
    for each in slices:
        way = tuple(way_to_call(each))
        if way:
            found[way] = None
    return [list(way) for way in found]


def way_to_call(each: Slice) -> Iterator[Line]:
    """Down to the first frame that is a network, an environment or the like: the user's own code may go on in it."""
    for spot in each.stack:
        if told(spot) in ("module", "backward", "optimizer") or (each.inside and of_environment(spot)):
            return
        if spot.kind == "user":
            yield line_of(spot)


def leads_to(mine: Way, others: Iterable[Way]) -> bool:
    """Whether it lies below the very line from which something is called."""
    return any(len(mine) >= len(way) and mine[: len(way)] == way for way in others)


def apart(one: Way, other: Way) -> int | None:
    """The first place at which two ways part within the same function; None where they do not."""
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place if mine[:2] == theirs[:2] else None
    return None


def comes_after(mine: Way, other: Way) -> bool:
    place = apart(mine, other)
    return place is not None and mine[place][2] > other[place][2]


def comes_before(mine: Way, other: Way) -> bool:
    place = apart(mine, other)
    return place is not None and mine[place][2] < other[place][2]


def lies_between(mine: Way, first: Way, last: Way) -> bool:
    return (comes_after(mine, first) or mine[: len(first)] == first) and comes_before(mine, last)
