"""Where the time went, as a trace: https://ui.perfetto.dev and chrome://tracing open it.

One iteration of the training loop, sample by sample: its parts, who called whom, the user's own lines, and when a step,
a backward pass or an update happened. Over the whole run: throughput, memory, and what the machine said of itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from rldebug.evidence.timing import Slice, Timing, Window

_RUN, _ITERATION = 1, 2  # Perfetto shows a group of tracks for each of them
_PARTS, _LINES, _CALLS, _HAPPENED = 1, 2, 3, 4
_TRACKS = {_PARTS: "parts", _LINES: "the user's own lines", _CALLS: "calls", _HAPPENED: "what happened"}

Box = tuple[Hashable, str, dict[str, Any]]  # what tells it from others, its name, and what is said of it
Event = dict[str, Any]


def write_trace(timing: Timing, file: str | Path) -> None:
    Path(file).write_text(json.dumps(trace(timing), ensure_ascii=False, allow_nan=False), encoding="utf-8")


def trace(timing: Timing) -> dict[str, Any]:
    events = [
        _named("process_name", _RUN, 0, "the run"),
        _named("process_name", _ITERATION, 0, "one iteration"),
        *(_named("thread_name", _ITERATION, track, name) for track, name in _TRACKS.items()),
        *({**_named("thread_sort_index", _ITERATION, track, ""), "args": {"sort_index": track}} for track in _TRACKS),
        *_boxes(timing, _PARTS),
        *_boxes(timing, _LINES),
        *_boxes(timing, _CALLS),
        *(_instant(when, what) for when, what in timing.happened),
        *(event for window in timing.windows if window.seconds > 0 for event in _counters(window)),
    ]
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _named(kind: str, process: int, track: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}


def _instant(when: float, what: str) -> Event:
    return {"ph": "i", "s": "t", "name": what, "pid": _ITERATION, "tid": _HAPPENED, "ts": _nanoseconds(when) / 1e3}


# ── an iteration ────────────────────────────────────────────────────────────────────────────────────────────────────


def _boxes(timing: Timing, track: int) -> Iterator[Event]:
    """A box within a box for what is called by what. What two samples in a row have in common is one box."""
    open_: list[tuple[Box, int]] = []  # and when it began, in whole nanoseconds: a box must not stick out of its parent
    now, pause = 0, _nanoseconds(timing.interval)
    for when, seconds, place in sorted(timing.moments):
        begin = max(_nanoseconds(when), now)
        end = max(_nanoseconds(when + seconds), begin)
        boxes = _nested(timing, timing.slices[place], track)
        common = 0
        if begin - now <= pause:  # longer than that, and nobody knows what was in between
            while common < min(len(boxes), len(open_)) and boxes[common][0] == open_[common][0][0]:
                common += 1
            now = begin
        yield from _closed(open_[common:], now, track)
        open_ = [*open_[:common], *((box, begin) for box in boxes[common:])]
        now = end
    yield from _closed(open_, now, track)


def _closed(boxes: list[tuple[Box, int]], end: int, track: int) -> Iterator[Event]:
    for (_, name, said), begin in boxes:
        if end > begin:
            at: Event = {"pid": _ITERATION, "tid": track, "ts": begin / 1e3, "dur": (end - begin) / 1e3}
            yield {"ph": "X", "name": name, "cat": _TRACKS[track], **at, "args": said}


def _nested(timing: Timing, slice_: Slice, track: int) -> list[Box]:
    if track == _PARTS:
        return [(slice_.part, slice_.part, {})]
    if track == _CALLS:
        return [((each.file, each.function), each.function, {"file": each.file}) for each in slice_.stack]
    spot = slice_.user
    if spot is None:
        return []
    source = timing.source(spot.file)
    text = source.lines[spot.line - 1].strip() if source is not None and spot.line <= len(source.lines) else ""
    place = f"{os.path.basename(spot.file)}:{spot.line}"
    return [((spot.file, spot.line), f"{place} {text}".strip(), {"file": spot.file, "line": spot.line})]


def _nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)


# ── the run ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _counters(window: Window) -> Iterator[Event]:
    """What a counter says holds from there to the next one."""
    gpu = {"allocated": window.allocated, "reserved": window.reserved, "in use by all": window.gross}
    told: dict[str, dict[str, float | None]] = {
        "env steps/s": {"env steps/s": window.env_steps / window.seconds},
        "updates/s": {"updates/s": window.updates / window.seconds},
        "parts, share of time": {part: seconds / window.seconds for part, seconds in window.parts.items()},
        "cores in use": {"program": window.cpu / window.seconds, "its children": window.children_cpu / window.seconds},
        "host memory, MB": {"resident": window.resident / 1e6},
        "pages from disk": {"pages": window.faults},
        **{f"GPU memory {name}, MB": {name: None if each is None else each / 1e6} for name, each in gpu.items()},
        "GPU utilisation": {"share of time": window.utilisation},
        "GPU temperature": {"°C": window.temperature},
        "GPU fan": {"%": window.fan},
    }
    for name, series in told.items():
        known = {key: value for key, value in series.items() if value is not None}
        if known:
            yield {"ph": "C", "name": name, "pid": _RUN, "ts": _nanoseconds(window.began) / 1e3, "args": known}
