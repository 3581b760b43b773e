"""What the page of a timing draws, as plain numbers: stacks as a tree, one iteration, curves over the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rldebug.evidence.timing import PARTS, Slice, Spot, Timing, Window
from rldebug.render.chart import number
from rldebug.render.profile import PACES, spot_in

_THINNEST = 5e-4  # share of the run below which a frame is left out of the tree
_DEEPEST = 150  # frames of a stack; more are a recursion, and deep lists cannot be written
_ALIKE = 0.6  # share of a frame's time from which on it is drawn as that part
_PAUSES = 10  # that there may be between two samples in a row
_MOMENTS, _EVENTS = 6_000, 12_000  # of an iteration; more cannot be seen
_POINTS = 400  # of a curve

Read = Callable[[Window], float | None]

_HUES: dict[str, tuple[int, int]] = {
    "simulator": (145, 50), "wrappers": (170, 45), "reset": (120, 35), "rendering": (95, 40), "evaluation": (75, 45),
    "acting": (195, 65), "copies": (38, 80), "buffer write": (52, 75), "buffer sample": (25, 75),
    "advantages": (330, 60), "loss": (220, 65), "backward": (245, 60), "optimizer": (268, 50),
    "target networks": (290, 45), "logging": (310, 40), "saving": (15, 45), "waiting": (0, 70), "other": (210, 8),
}  # fmt: skip
_OWN = ((182, 70), (350, 65), (60, 60), (130, 65))  # for the user's own names, in turn


def hues(timing: Timing) -> dict[str, tuple[int, int]]:
    """Part -> hue and saturation; how light it is depends on the theme."""
    own = [each for each in timing.parts if each not in PARTS]
    return {**_HUES, **{name: _OWN[place % len(_OWN)] for place, name in enumerate(own)}}


# ── stacks ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class _Node:
    seconds: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    lines: dict[int, float] = field(default_factory=dict)
    below: dict[tuple[str, str], _Node] = field(default_factory=dict)
    spot: Spot | None = None

    def add(self, each: Slice) -> None:
        self.seconds += each.seconds
        self.parts[each.part] = self.parts.get(each.part, 0.0) + each.seconds


def flame(timing: Timing) -> dict[str, Any] | None:
    """Stacks merged from the outermost call down: frames, and nodes [frame, seconds, part, [nodes]]."""
    root = _Node()
    for each in timing.slices:
        if each.thread:
            continue
        root.add(each)
        node = root
        for spot in each.stack[:_DEEPEST]:
            node = node.below.setdefault((spot.file, spot.function), _Node())
            node.spot = spot
            node.add(each)
            node.lines[spot.line] = node.lines.get(spot.line, 0.0) + each.seconds
            if spot.kind == "user":  # below it, its lines: a script may be one function from end to end
                node = node.below.setdefault((spot.file, f":{spot.line}"), _Node())
                node.spot = Spot(spot.file, _text(timing, spot), spot.line, "user")
                node.add(each)
                node.lines[spot.line] = node.lines.get(spot.line, 0.0) + each.seconds
    if not root.below:
        return None
    names = list(hues(timing))
    frames: dict[tuple[str, str, bool], int] = {}

    def plain(node: _Node) -> list[Any]:
        spot = node.spot
        frame = ("all of it", "", False)
        if spot is not None:
            hot = max(node.lines, key=lambda line: node.lines[line])
            at = Spot(spot.file, "<module>", hot, spot.kind)
            frame = (spot.function, spot_in(at, 200), spot.kind == "user")
        part, most = max(node.parts.items(), key=lambda item: item[1])
        mixed = node.below and most < _ALIKE * node.seconds
        children = sorted(node.below.values(), key=lambda each: -each.seconds)
        return [
            frames.setdefault(frame, len(frames)),
            number(node.seconds),
            -1 if mixed or spot is None else names.index(part),
            [plain(each) for each in children if each.seconds >= _THINNEST * root.seconds],
        ]

    tree = plain(root)
    return {"frames": [list(each) for each in frames], "tree": tree}


def _text(timing: Timing, spot: Spot) -> str:
    """A line as the program has it."""
    source = timing.source(spot.file)
    known = source is not None and spot.line <= len(source.lines)
    return f"{spot.line}  {source.lines[spot.line - 1].strip()[:80]}" if source and known else f"line {spot.line}"


# ── an iteration ────────────────────────────────────────────────────────────────────────────────────────────────────


def iteration(timing: Timing) -> dict[str, Any] | None:
    """Moments [when, how long, place], places [part, line, call], and events [when, what]."""
    known = [each for each in timing.moments if 0 <= each[2] < len(timing.slices)]
    if not known:
        return None
    joined: list[list[Any]] = []
    for at, took, which in sorted(known):
        if joined:
            before = joined[-1]
            if at - before[0] - before[1] <= _PAUSES * took:  # samples come at random: up to the next, it is the last
                before[1] = at - before[0]
                if before[2] == which:
                    before[1] += took
                    continue
        joined.append([at, took, which])
    began = min(joined[0][0], min((at for at, _ in timing.happened), default=joined[0][0]))
    kept = joined[:_MOMENTS]
    end = kept[-1][0] + kept[-1][1]
    events = [(at, what) for at, what in timing.happened if at <= end]
    events = events[:: len(events) // _EVENTS + 1]
    used = sorted({each[2] for each in kept})
    names = list(hues(timing))
    places = []
    for which in used:
        each = timing.slices[which]
        spot = each.user or (each.stack[-1] if each.stack else None)
        places.append([names.index(each.part) if each.part in names else -1, spot_in(spot, 200), each.called])
    order = {which: place for place, which in enumerate(used)}
    return {
        "seconds": number(end - began),
        "cut": len(kept) < len(joined),
        "moments": [[number(at - began), number(took), order[which]] for at, took, which in kept],
        "places": places,
        "events": [[number(at - began), what] for at, what in events],
    }


# ── over the run ────────────────────────────────────────────────────────────────────────────────────────────────────


def over_time(timing: Timing) -> list[dict[str, Any]]:
    """Curves of the run: pace, memory, processor and parts; none where nothing was read."""
    windows = thinned(timing.windows)
    if len(windows) < 2:
        return []
    groups: list[tuple[str, str, dict[str, Read]]] = [
        *((name, "/s", {name: _per_second(amount)}) for name, amount in PACES),
        ("host memory", "bytes", {"resident": lambda each: each.resident}),
        (
            "cores in use",
            "",
            {
                "this process": _per_second(lambda each: each.cpu),
                "its workers": _per_second(lambda each: each.children_cpu),
            },
        ),
        ("pages from disk", "/s", {"faults": _per_second(lambda each: each.faults)}),
    ]
    found = [curves(windows, title, unit, lines) for title, unit, lines in groups]
    for each in found:
        each["series"] = [one for one in each["series"] if any(one["y"])]  # never anything but 0: not read, or not so
    shares = curves(windows, "parts", "%", {name: _share(name) for name in hues(timing)})
    shares["series"] = [one for one in shares["series"] if any(one["y"])]
    return [each for each in (*found, {**shares, "stacked": True}) if each["series"]]


def _per_second(amount: Callable[[Window], float]) -> Read:
    return lambda window: amount(window) / window.seconds


def _share(part: str) -> Read:
    """Of what was sampled in a window: that is its wall clock only up to chance."""
    return lambda window: 100 * window.parts.get(part, 0.0) / (sum(window.parts.values()) or 1.0)


def gpu_over_time(timing: Timing) -> list[dict[str, Any]]:
    windows = thinned(timing.windows)
    groups: tuple[tuple[str, str, dict[str, Read]], ...] = (
        ("utilisation", "%", {"busy": lambda each: None if each.utilisation is None else 100 * each.utilisation}),
        (
            "GPU memory",
            "bytes",
            {
                "in tensors": lambda each: each.allocated,
                "reserved": lambda each: each.reserved,
                "in all": lambda each: each.gross,
            },
        ),
        ("temperature", "°C", {"temperature": lambda each: each.temperature}),
        ("fan", "%", {"fan": lambda each: each.fan}),
    )
    found = [curves(windows, title, unit, lines) for title, unit, lines in groups]
    return [each for each in found if each["series"]]


def thinned(windows: Sequence[Window]) -> list[Window]:
    timed = [each for each in windows if each.seconds > 0]
    return timed[:: len(timed) // _POINTS + 1]


def curves(windows: Sequence[Window], title: str, unit: str, lines: Mapping[str, Read]) -> dict[str, Any]:
    series = []
    for name, read in lines.items():
        values = [None if (value := read(each)) is None else number(value) for each in windows]
        if any(value is not None for value in values):
            series.append({"name": name, "y": values})
    return {
        "title": title,
        "unit": unit,
        "x": [number(each.began + each.seconds) for each in windows],
        "series": series,
    }
