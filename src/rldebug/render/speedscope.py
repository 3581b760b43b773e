"""Where the time went, as speedscope reads it (https://www.speedscope.app): stacks, and the seconds spent in each.

Every thread is there twice: by who called whom, and the same below the part of the training loop that it belongs to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rldebug.evidence.timing import Slice, Spot, Timing

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write_speedscope(timing: Timing, file: str | Path) -> None:
    Path(file).write_text(json.dumps(speedscope(timing), ensure_ascii=False, allow_nan=False), encoding="utf-8")


def speedscope(timing: Timing) -> dict[str, Any]:
    frames = _Frames()
    profiles = []
    for thread in sorted({each.thread for each in timing.slices}):
        slices = [each for each in timing.slices if each.thread == thread]
        name = "training" if thread == 0 else f"thread {thread}"
        profiles.append(_profile(f"{name}, by call", ((frames.stack(each), each.seconds) for each in slices)))
        parted = (([frames.part(each.part), *frames.stack(each)], each.seconds) for each in slices)
        profiles.append(_profile(f"{name}, by part", parted))
    return {
        "$schema": _SCHEMA,
        "name": "rldebug profile",
        "exporter": "rldebug",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.known},
        "profiles": profiles,
    }


def _profile(name: str, stacks: Iterable[tuple[list[int], float]]) -> dict[str, Any]:
    # Alike stacks side by side: the view in order of time then shows them as one.
    ordered = sorted((each for each in stacks if each[1] > 0), key=lambda each: each[0])
    return {
        "type": "sampled",
        "name": name,
        "unit": "seconds",
        "startValue": 0,
        "endValue": sum(seconds for _, seconds in ordered),
        "samples": [stack for stack, _ in ordered],
        "weights": [seconds for _, seconds in ordered],
    }


class _Frames:
    """Each once: a line of the user's own code, a function of anybody else's, or a part."""

    def __init__(self) -> None:
        self.known: list[dict[str, Any]] = []
        self._places: dict[tuple[str, ...], int] = {}

    def stack(self, slice_: Slice) -> list[int]:
        return [self._spot(each) for each in slice_.stack]

    def part(self, name: str) -> int:
        return self._place(("", name), {"name": name})

    def _spot(self, spot: Spot) -> int:
        if spot.kind == "user":
            name = f"{spot.function} · {os.path.basename(spot.file)}:{spot.line}"
            described = {"name": name, "file": spot.file, "line": spot.line}
            return self._place((spot.file, spot.function, str(spot.line)), described)
        return self._place((spot.file, spot.function), {"name": spot.function, "file": spot.file})

    def _place(self, key: tuple[str, ...], described: dict[str, Any]) -> int:
        if key not in self._places:
            self._places[key] = len(self.known)
            self.known.append(described)
        return self._places[key]
