"""What the terminal and the page say of a timing alike: its parts, in rows that add up to the wall clock; numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rldebug.evidence.timing import Slice, Spot, Timing, total
from rldebug.finding import thousands

SMALL = 0.005  # share of the run below which parts are summed up
_FUNCTIONS = 4  # of the user's, that "other" is split into

KINDS: dict[str, tuple[str, ...]] = {
    "environment": ("simulator", "wrappers", "reset", "rendering", "evaluation"),
    "acting": ("acting",),
    "data": ("copies", "buffer write", "buffer sample"),
    "learning": ("advantages", "loss", "backward", "optimizer", "target networks"),
    "aside": ("logging", "saving"),
    "waiting": ("waiting",),
}
"""Parts that belong together, and are drawn alike. What is in none of them is the user's own name, or the rest."""

_PER_STEP = (*KINDS["environment"][:4], *KINDS["acting"], "buffer write")
_PER_UPDATE = ("buffer sample", "loss", "backward", "optimizer", "target networks")


@dataclass(frozen=True)
class Row:
    """One bar. The percentages of all rows that are not `within` another add up to 100."""

    name: str
    seconds: float
    percent: float
    per: str = ""  # what it costs each time: 0.15 ms/step
    spot: Spot | None = None  # the line that most of it is spent on
    within: bool = False


def rows(timing: Timing) -> list[Row]:
    """The parts, the largest first; what is small in one row. Together they are the wall clock."""
    parts = dict(timing.parts)
    if not parts:
        return []
    whole = max(timing.seconds, sum(parts.values()))
    unseen = whole - sum(parts.values())
    large = {name: seconds for name, seconds in parts.items() if seconds >= SMALL * whole}
    small = {name: seconds for name, seconds in parts.items() if name not in large}
    if unseen >= SMALL * whole:
        large["not sampled"] = unseen
    elif unseen > 1e-9:
        small["not sampled"] = unseen
    large = dict(sorted(large.items(), key=lambda each: -each[1]))
    if len(small) == 1:
        large |= small
    elif small:
        large[f"{len(small)} smaller parts"] = sum(small.values())
    found: list[Row] = []
    for (name, seconds), percent in zip(large.items(), percents(list(large.values())), strict=True):
        slices = timing.of(name) if name in parts else []
        found.append(Row(name, seconds, percent, _per(timing, name, slices), hottest(slices)))
        if name == "other":
            found += _functions(slices, whole)
    return found


def percents(amounts: Sequence[float]) -> list[float]:
    """Shares in per cent with one digit, that add up to 100 as they are printed: what is cut off most is rounded up."""
    whole = sum(amounts)
    if whole <= 0:
        return [0.0 for _ in amounts]
    exact = [1000 * each / whole for each in amounts]
    cut = [math.floor(each) for each in exact]
    order = sorted(range(len(exact)), key=lambda i: cut[i] - exact[i])
    for i in order[: 1000 - sum(cut)]:
        cut[i] += 1
    return [each / 10 for each in cut]


def hottest(slices: Iterable[Slice]) -> Spot | None:
    """The user's own line that most of the time is spent on; where there is none, the library's."""
    lines: dict[tuple[bool, str, str, int], float] = {}
    spots: dict[tuple[bool, str, str, int], Spot] = {}
    for each in slices:
        spot = each.user or (each.stack[-1] if each.stack else None)
        if spot is not None:
            key = (spot.kind == "user", spot.file, spot.function, spot.line)
            lines[key], spots[key] = lines.get(key, 0.0) + each.seconds, spot
    return spots[max(lines, key=lambda key: (key[0], lines[key]))] if lines else None


def _functions(slices: Sequence[Slice], whole: float) -> Iterator[Row]:
    functions: dict[tuple[str, str], list[Slice]] = {}
    for each in slices:
        if (spot := each.user) is not None:
            functions.setdefault((spot.file, spot.function), []).append(each)
    largest = sorted(functions.items(), key=lambda item: -total(item[1]))
    for (_, name), own in largest[:_FUNCTIONS]:
        seconds = total(own)
        if seconds >= 0.1 * SMALL * whole:
            yield Row(name, seconds, round(100 * seconds / whole, 1), spot=hottest(own), within=True)


def _per(timing: Timing, name: str, slices: Sequence[Slice]) -> str:
    """What it costs each time, in the unit that it is done by."""
    if name == "advantages" and timing.phases:
        return f"{brief(total(slices) / timing.phases)}/rollout"
    if name in _PER_STEP:
        unit = "step"
    elif name in _PER_UPDATE:
        unit = "update"
    else:
        acting = total(each for each in slices if each.after in ("step", "reset"))
        unit = "step" if acting > total(slices) / 2 else "update"
    times = {"step": timing.env_steps, "update": timing.updates}[unit]
    return f"{brief(total(slices) / times)}/{unit}" if times and slices else ""


def kind_of(part: str) -> str:
    return next((kind for kind, parts in KINDS.items() if part in parts), "")


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def brief(seconds: float) -> str:
    """Three digits: 38.2 s, 0.15 ms, 12 µs."""
    if seconds >= 100:
        return f"{thousands(round(seconds))} s"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 0.9995:
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 999.5 else f"{seconds * scale:.0f} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds > 0 else "0 s"


def in_seconds(seconds: float) -> str:
    """Of a column: the digits stand below one another."""
    return f"{seconds:.2f} s" if seconds < 1000 else f"{thousands(round(seconds))} s"


def rate(number: float) -> str:
    return thousands(round(number)) if number >= 100 else f"{number:.3g}"


def size(number: float) -> str:
    """23.5 GiB, 64 MiB, 1.5 KiB."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= scale:
            amount = number / scale
            return f"{amount:.3g} {unit}" if amount < 999.5 else f"{amount:.0f} {unit}"
    return f"{number:.0f} B"
