"""Ladders on disk: what `rldebug probe` found last about each target, with its report, to be shown again later."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_data import from_dict, number, report_from_dict, to_dict
from rldebug.evidence.run import one_line
from rldebug.finding import Report

PROBES = Path(".rldebug") / "probes"
FORMAT = 1
_LARGEST = 64 * 2**20  # bytes of one file; a whole ladder takes some 100 kB


@dataclass(frozen=True)
class Kept:
    """A file of the folder: the ladder and its report, or what is wrong with it."""

    path: Path
    target: str  # the name of the file, where it cannot be read
    written: float  # seconds since 1970
    ladder: Ladder | None = None
    report: Report | None = None
    problem: str = ""


def file_of(target: str, folder: Path = PROBES) -> Path:
    """Where the ladder of a target is kept. The digits tell apart what looks alike in a file name."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", target).strip("-.")[-60:]
    return folder / f"{plain}-{hashlib.sha256(target.encode('utf-8', 'replace')).hexdigest()[:8]}.json"


def write_ladder(ladder: Ladder, report: Report, folder: Path = PROBES) -> Path:
    """In place of the one before. Raises OSError where it cannot be written; then the one before is still there."""
    file = file_of(ladder.target, folder)
    data = {"format": FORMAT, "written": time.time(), "ladder": to_dict(ladder), "report": report.to_dict()}
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    part = file.with_name(f"{file.name}.{os.getpid()}")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, file)  # at once: a dashboard may be reading
    finally:
        part.unlink(missing_ok=True)
    return file


def read_ladders(folder: Path = PROBES) -> list[Kept]:
    """All of a folder, newest first; none where there is no such folder. Nothing is raised for what a file holds."""
    try:
        files = [each for each in folder.iterdir() if each.suffix == ".json"]
    except OSError:
        return []
    return sorted(map(read_ladder, files), key=lambda each: (-each.written, each.path.name))


def read_ladder(file: Path) -> Kept:
    """One file; `problem` says why there is no ladder in it."""
    written = 0.0
    try:
        about = file.lstat()
        written = about.st_mtime
        if not stat.S_ISREG(about.st_mode):  # a link may lead anywhere, and a pipe never ends
            raise ValueError("it is not a plain file")
        if about.st_size > _LARGEST:
            raise ValueError(f"it is too large: {about.st_size / 2**20:.0f} MiB")
        data = json.loads(file.read_bytes())
        if not isinstance(data, dict) or not isinstance(data.get("format"), int):
            raise ValueError("it was not written by `rldebug probe`")
        if data["format"] > FORMAT:
            raise ValueError(f"it is of format {data['format']}, and this rldebug reads up to {FORMAT}")
        if 0 <= (told := number(data["written"], "written")) < 2**32:
            written = told  # else the clock was wrong, or somebody else was at it
        ladder = from_dict(data["ladder"])
        return Kept(file, ladder.target, written, ladder, report_from_dict(data["report"], ladder.target))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        return Kept(file, file.stem, written, problem=f"{file.name} cannot be read: {one_line(error)}")
