"""ClipWriter: episodes as animated pictures in the folder `clips` of a run, and the newest frame, by its own thread.

    clips/index.jsonl         one line for each clip that is kept
    clips/000003.png          an animated PNG; 000003-first.png, its first frame
    clips/live.png            the newest frame while an episode is recorded

Whoever hands frames over never waits: where the thread cannot keep up, frames are left out.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from rldebug.capture.png import Animation, Pixels, encode
from rldebug.capture.viewer import Viewer

KEPT = 30
FRAMES = 600
WIDEST = 320
_QUEUE = 48  # frames
_BYTES = 4 << 20  # of a clip: what comes after is left out
_LIVE = 0.1  # seconds between two pictures of live.png
_LONGEST_GAP = 1.0  # seconds that a frame is shown, however long the next was in coming


class ClipWriter:
    def __init__(self, folder: Path, viewer: Viewer | None = None) -> None:
        self.folder, self.viewer = folder, viewer
        self.problem: str | None = None  # why nothing is written any more
        self._queue: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lines: list[dict[str, Any]] = []
        self._animation: Animation | None = None
        self._first: Pixels | None = None
        self._number = 0
        self._step = 0  # of the last frame
        self._at = 0.0  # seconds of the clip
        self._shown = 0.0  # time.monotonic() of live.png

    # ── called by the program's own thread ──────────────────────────────────────────────────────────────────────────

    def begin(self, fps: float) -> None:
        """Steps of the environment in a second, when it is played as it is meant to be."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="rldebug-clips", daemon=True)
            self._thread.start()
        self._queue.put(("begin", fps))

    def frame(self, pixels: Pixels, step: int) -> None:
        if self._queue.qsize() < _QUEUE:
            self._queue.put(("frame", (pixels, step)))

    def end(self, told: dict[str, Any] | None) -> None:
        """What the index says of it; None: it is not kept."""
        self._queue.put(("end", told))

    def rest(self) -> None:
        """Nothing is drawn for now."""
        if self._thread is not None:
            self._queue.put(("rest", None))

    def close(self, patience: float = 5.0) -> None:
        """Write what is left."""
        if self._thread is not None:
            self._queue.put(("close", None))
            self._thread.join(patience)
        if self.viewer is not None:
            self.viewer.close()

    # ── the thread ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        while True:
            kind, given = self._queue.get()
            if kind == "close":
                return
            if self.problem is not None:
                continue
            try:
                getattr(self, f"_{kind}")(given)
            except OSError as error:
                self.problem = f"clips are not recorded any more: {error}"
            except Exception:
                self.problem = f"clips are not recorded any more: {traceback.format_exc()}"

    def _begin(self, fps: float) -> None:
        self.folder.mkdir(exist_ok=True)
        self._number += 1
        self._fps, self._step, self._at, self._first = fps, 0, 0.0, None
        self._animation = Animation(self.folder / f"{self._number:06d}.part")

    def _frame(self, given: tuple[Pixels, int]) -> None:
        pixels, step = smaller(given[0]), given[1]
        if self.viewer is not None:
            self.viewer.show(pixels)
        now = time.monotonic()
        if now - self._shown >= _LIVE:
            self._shown = now
            self._replace("live.png", encode(pixels))
        animation = self._animation
        if animation is None or animation.frames >= FRAMES - 1 or animation.bytes >= _BYTES:
            return
        if self._first is None:
            self._first = pixels
        else:
            self._at += min((step - self._step) / self._fps, _LONGEST_GAP)
        self._step = step
        animation.add(pixels, self._at)

    def _end(self, told: dict[str, Any] | None) -> None:
        animation, first, self._animation = self._animation, self._first, None
        if animation is None or first is None:
            return
        if told is None:
            self._number -= 1
            return
        animation.close()
        name = f"{self._number:06d}"
        (self.folder / f"{name}.part").replace(self.folder / f"{name}.png")
        (self.folder / f"{name}-first.png").write_bytes(encode(first))
        line = {
            "n": self._number,
            **told,
            "frames": animation.frames,
            "fps": round((animation.frames - 1) / self._at if self._at else self._fps, 2),
            "width": first.shape[1],
            "height": first.shape[0],
            "file": f"{name}.png",
            "poster": f"{name}-first.png",
        }
        self._lines.append(line)
        with (self.folder / "index.jsonl").open("a", encoding="utf-8") as file:
            file.write(_text(line))
        if len(self._lines) > KEPT:
            self._thin()

    def _rest(self, _: None) -> None:
        (self.folder / "live.png").unlink(missing_ok=True)

    def _thin(self) -> None:
        """Every other one of the older half: of a long run some of its beginning are kept."""
        half = len(self._lines) // 2
        gone = self._lines[1:half:2]
        self._lines = [each for each in self._lines if each not in gone]
        self._replace("index.jsonl", "".join(map(_text, self._lines)).encode())  # first: what is listed is there
        for line in gone:
            for name in ("file", "poster"):
                (self.folder / line[name]).unlink(missing_ok=True)

    def _replace(self, name: str, data: bytes) -> None:
        draft = self.folder / f"{name}.part"
        draft.write_bytes(data)
        draft.replace(self.folder / name)


def smaller(pixels: Pixels) -> Pixels:
    """At most as wide as clips are. The mean of what becomes one pixel: thin lines would be lost."""
    step = -(-max(pixels.shape[1], pixels.shape[0] // 2) // WIDEST)
    if step == 1:
        return pixels
    height, width = (pixels.shape[0] // step or 1), (pixels.shape[1] // step or 1)
    pixels = pixels[: height * step, : width * step]
    if len(pixels) < step or pixels.shape[1] < step:
        return pixels[::step, ::step]
    total = np.zeros((height, width, *pixels.shape[2:]), dtype=np.uint32)
    for row in range(step):
        for column in range(step):
            total += pixels[row::step, column::step]
    mean: Pixels = (total // (step * step)).astype(np.uint8)
    return mean


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
