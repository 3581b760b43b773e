"""Which of two calls comes first in the user's code: their places in the innermost function that leads to both."""

from __future__ import annotations

from types import CodeType, FrameType

Place = tuple[tuple[CodeType, int], ...]

_DEEP = 256  # frames; a deeper stack has its loop further in


def place_of(frame: FrameType | None) -> Place:
    """The functions that are running, innermost first, each with the line it has come to. Keeps no frame alive."""
    place: list[tuple[CodeType, int]] = []
    while frame is not None and len(place) < _DEEP:
        place.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(place)


def comes_before(one: Place, other: Place) -> bool | None:
    """Whether `one` stands above `other` in the innermost function that has come to both by different lines."""
    lines = dict(reversed(other))
    for code, line in one:
        if code in lines and lines[code] != line:
            return line < lines[code]
    return None
