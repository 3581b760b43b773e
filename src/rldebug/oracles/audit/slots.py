"""What a frame stack holds after each reset and step: when it is right, and with each known mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rldebug.oracles.audit.frames import EPISODES

Slots = list[tuple[int, int] | None]  # frames by episode and step, oldest first; None is an empty one


def events() -> list[tuple[int, int]]:
    return [(episode, step) for episode, count in enumerate(EPISODES) for step in range(count)]


Rule = Callable[[Slots, tuple[int, int]], Slots]


def _played(rule: Rule, k: int) -> list[Slots]:
    """The slots after each reset and step, by a rule."""
    slots: Slots = [None] * k
    found = []
    for event in events():
        slots = rule(slots, event)
        found.append(list(slots))
    return found


def _repeat(slots: Slots, event: tuple[int, int]) -> Slots:
    return [event] * len(slots) if event[1] == 0 else [*slots[1:], event]


def _zeros(slots: Slots, event: tuple[int, int]) -> Slots:
    return [*[None] * (len(slots) - 1), event] if event[1] == 0 else [*slots[1:], event]


def _leaks(slots: Slots, event: tuple[int, int]) -> Slots:
    return [*slots[1:], event] if any(slots) else [event] * len(slots)


def _leaks_from_zeros(slots: Slots, event: tuple[int, int]) -> Slots:
    return [*slots[1:], event]


def _late(repeat: bool, k: int) -> list[Slots]:
    right = _played(_repeat if repeat else _zeros, k)
    return [
        slots if event[1] == 0 else right[number - 1]
        for number, (slots, event) in enumerate(zip(right, events(), strict=True))
    ]


def _rotating(fill: bool, k: int) -> list[Slots]:
    found, slots, at = [], [None] * k, 0
    for event in events():
        if event[1] == 0:
            slots = [event] * k if fill else [event, *[None] * (k - 1)]  # type: ignore[list-item]
            at = 0 if fill else 1
        else:
            slots = list(slots)
            slots[at % k] = event  # type: ignore[call-overload]
            at += 1
        found.append(list(slots))
    return found  # type: ignore[return-value]


def _wrong_way(slots: Slots, event: tuple[int, int]) -> Slots:
    return [event] * len(slots) if event[1] == 0 else [slots[-1], *slots[:-2], event]


def _wrong_way_from_zeros(slots: Slots, event: tuple[int, int]) -> Slots:
    return [*[None] * (len(slots) - 1), event] if event[1] == 0 else [slots[-1], *slots[:-2], event]


def _twice(slots: Slots, event: tuple[int, int]) -> Slots:
    return [event] * len(slots) if event[1] == 0 else [*slots[2:], event, event]


def _first_lost(slots: Slots, event: tuple[int, int]) -> Slots:
    return [None] * len(slots) if event[1] == 0 else [*slots[1:], event]


def _same(slots: Slots, event: tuple[int, int]) -> Slots:
    return [event] * len(slots)


def _growing(k: int) -> list[Slots]:
    found: list[Slots] = []
    slots: Slots = []
    for event in events():
        slots = [event] if event[1] == 0 else [*slots, event][-k:]
        found.append(list(slots))
    return found


@lru_cache(maxsize=8)
def right_ones(k: int) -> dict[str, list[Slots]]:
    return {"the first frame repeated": _played(_repeat, k), "zeros before the first frame": _played(_zeros, k)}


@lru_cache(maxsize=8)
def wrong_ones(k: int) -> tuple[tuple[str, list[Slots]], ...]:
    return (
        ("leaks-over-reset", _played(_leaks, k)),
        ("leaks-over-reset", _played(_leaks_from_zeros, k)),
        ("one-step-late", _late(True, k)),
        ("one-step-late", _late(False, k)),
        ("order-rotates", _rotating(True, k)),
        ("order-rotates", _rotating(False, k)),
        ("same-frame-repeated", _played(_same, k)),
        ("shifted-the-wrong-way", _played(_wrong_way, k)),
        ("shifted-the-wrong-way", _played(_wrong_way_from_zeros, k)),
        ("frame-added-twice", _played(_twice, k)),
        ("first-frame-lost", _played(_first_lost, k)),
        ("not-filled-at-reset", _growing(k)),
        ("wrong-number-of-frames", _played(_repeat, k - 1)),
        ("wrong-number-of-frames", _played(_repeat, k + 1)),
        ("wrong-number-of-frames", _played(_zeros, k + 1)),
    )
