"""A run that still goes on, written to viewers as it grows: each reading once, the diagnosis when there is one."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rldebug.evidence.alive import alive
from rldebug.evidence.run import Reading, RunError
from rldebug.evidence.tags import Convention
from rldebug.render.exported import Arranger, Lines, Viewer, read_findings, settings_of

_POLL = 1.0  # seconds between two looks at the run folder
_TICK = 0.1  # between two looks whether it is time to end
_SILENT = 10.0  # a program that is gone and has written nothing for so long was killed
_DIAGNOSIS = 15.0  # for a diagnosis to be written after the end
_STILL = 0.5  # it is whole if it has not grown for so long


def follow(
    folder: Path, open_viewers: Callable[[str], Sequence[Viewer]], convention: Convention, until: Path | None = None
) -> int:
    """Until the run has ended, Ctrl-C, or until the file `until` is there; that is removed when all is written. Returns
    the number of readings. `open_viewers` is given the name of the run."""
    try:
        meta = _first_meta(folder)
        viewers = open_viewers(str(meta.get("name") or folder.name))
        lines, arranger = Lines(folder), Arranger(meta, convention)

        def write(readings: Iterator[Reading]) -> bool:
            before = lines.read
            for reading in readings:
                moment = arranger(reading)
                for viewer in viewers:
                    viewer.add(moment)
            if lines.read == before:
                return False
            for viewer in viewers:
                viewer.flush()
            return True

        with _ctrl_c() as pressed:
            _write_on(folder, lambda: write(lines.new()), until, pressed)
            if until is None:
                _await_diagnosis(folder, pressed)
            write(lines.new())
            write(lines.rest())
            report, settings = read_findings(folder), settings_of(_meta(folder) or meta)
            for viewer in viewers:
                viewer.close(report, settings, arranger.last)
        return lines.read
    finally:
        if until is not None:
            until.unlink(missing_ok=True)


@contextmanager
def _ctrl_c() -> Iterator[Callable[[], bool]]:
    """Whether it was pressed. The second time it ends the process: raised in the midst of writing, the first one would
    leave half a record."""
    pressed = []

    def take(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, take)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _write_on(folder: Path, write: Callable[[], bool], until: Path | None, pressed: Callable[[], bool]) -> None:
    def told() -> bool:
        return pressed() or (until is not None and until.exists())

    last_news = time.monotonic()
    while True:
        silent = time.monotonic() - last_news
        over = told() or _killed(folder, silent) or (until is None and _ended(folder))
        if write():
            last_news = time.monotonic()
        if over:
            return
        next_look = time.monotonic() + _POLL
        while time.monotonic() < next_look and not told():
            time.sleep(_TICK)


def _first_meta(folder: Path) -> Mapping[str, Any]:
    """A run that has just begun may not have come to it."""
    deadline = time.monotonic() + _SILENT
    while (meta := _meta(folder)) is None:
        if time.monotonic() > deadline:
            raise RunError(f"{folder} has no run.json that can be read: it is not a run folder")
        time.sleep(_TICK)
    return meta


def _meta(folder: Path) -> Mapping[str, Any] | None:
    try:
        meta = json.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return meta if isinstance(meta, dict) else None


def _ended(folder: Path) -> bool:
    return bool((_meta(folder) or {}).get("state", "running") != "running")


def _killed(folder: Path, silent: float) -> bool:
    """From another machine no process is to be seen: it must have been silent too."""
    return silent > _SILENT and not alive((_meta(folder) or {}).get("pid"))


def _await_diagnosis(folder: Path, pressed: Callable[[], bool]) -> None:
    """It comes after the end of the run: until it stands still, or its process is gone, or for a while."""
    now = time.monotonic()
    deadline, size, since = now + _DIAGNOSIS, -1, now
    while now < deadline and not pressed() and alive((_meta(folder) or {}).get("pid")):
        try:
            found, end = (folder / "findings.jsonl").stat(), (folder / "run.json").stat()
        except OSError:
            pass  # not yet there
        else:
            if found.st_size != size:
                size, since = found.st_size, now
            if found.st_mtime_ns >= end.st_mtime_ns and now - since >= _STILL:
                return
        time.sleep(_TICK)
        now = time.monotonic()
