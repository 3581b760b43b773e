"""Which runs there are: a look at a folder of run folders, cheap enough to be taken once a second.

Of each only run.json is read, when it has changed. Folders may come from anywhere: what is not as it should be becomes
a row that says so, and links are not followed.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rldebug.evidence.alive import alive
from rldebug.evidence.folder import ranks
from rldebug.evidence.lines import read_small
from rldebug.evidence.run import one_line

_CHILDREN = "children"  # where processes that a run has started are recorded
_NUMBER = re.compile(r"\d{2,4}")
_MOST_CHILDREN = 64
_QUIET = 60.0  # seconds without a word, after which a run whose process is not there counts as killed
_TEXT = 200  # characters of a name
_LINK = "this is a link to another folder, which is not followed: name that folder itself"


@dataclass(frozen=True)
class Process:
    """One run folder. A run has several where it was trained by several processes."""

    id: str
    folder: Path
    label: str


@dataclass(frozen=True)
class Row:
    """One run, as the list shows it."""

    id: str
    title: str
    began: float  # seconds since 1970
    processes: tuple[Process, ...] = ()  # the one whose page it is comes first
    state: str = ""
    started: str = ""
    updates: int | None = None
    env_steps: int | None = None
    env: str = ""
    problem: str = ""
    pid: int | None = None

    def to_dict(self) -> dict[str, Any]:
        about = {name: getattr(self, name) for name in _SHOWN}
        return {**about, "ranks": len(self.processes)}


_SHOWN = ("id", "title", "state", "started", "updates", "env_steps", "env", "problem")


@dataclass
class Runs:
    """The run folders under `root`; of one alone, with its ranks, where that is asked for."""

    root: Path
    only: str | None = None
    rows: dict[str, Row] = field(default_factory=dict)  # by id, the newest first
    processes: dict[str, Process] = field(default_factory=dict)  # all there are, by id
    problem: str = ""
    version: int = 0
    _known: dict[str, tuple[Any, Row]] = field(default_factory=dict)  # by name: the stamp of run.json, what it says

    def look(self) -> bool:
        """True where something has changed."""
        before = self.rows, self.problem
        found = {name: (path, link) for name, path, link in self._folders()}
        self._known = {name: self._read(name, *each) for name, each in found.items() if each[1] or _stamp(each[0])}
        read = {name: _as_it_is(row) for name, (_, row) in self._known.items()}
        jobs = ranks({name: row.began if row.started else None for name, row in read.items()})
        rows = [_job(read[first], [(rank, read[name]) for rank, name in more.items()]) for first, more in jobs.items()]
        rows.sort(key=lambda each: (-each.began, each.id))
        self.rows = {each.id: each for each in rows if self.only is None or each.id == self.only}
        self.processes = {one.id: one for each in self.rows.values() for one in each.processes}
        if changed := before != (self.rows, self.problem):
            self.version += 1
        return changed

    def _folders(self) -> Iterator[tuple[str, Path, bool]]:
        self.problem = ""
        try:
            with os.scandir(self.root) as entries:
                for each in entries:
                    if each.is_dir():
                        yield each.name, Path(each.path), each.is_symlink()
        except FileNotFoundError:
            return  # not yet
        except OSError as error:
            self.problem = f"the folder of runs cannot be read: {error.strerror}"

    def _read(self, name: str, folder: Path, link: bool) -> tuple[Any, Row]:
        stamp = _stamp(folder)
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            row = known[1]
        else:
            row = _row(_id(name), folder, link, stamp)
        if not row.problem and (row.state == "running" or known is None or known[0] != stamp):
            row = replace(row, processes=_with_children(row.processes[0]))
        return stamp, row


def _stamp(folder: Path) -> tuple[int, ...]:
    """Empty where there is no run.json: that is no run, or not yet."""
    try:
        about = os.lstat(folder / "run.json")
    except (OSError, ValueError):
        return ()
    return about.st_mtime_ns, about.st_size, about.st_mode


def _id(name: str) -> str:
    """A name may hold bytes that are no text; an address cannot."""
    return name.encode("utf-8", "backslashreplace").decode()


def _row(id: str, folder: Path, link: bool, stamp: tuple[int, ...]) -> Row:
    written = stamp[0] / 1e9 if stamp else 0.0
    if link:
        return Row(id, id, written, problem=_LINK)
    own = Process(id, folder, id)
    try:
        meta = json.loads(read_small(folder / "run.json"))
        if not isinstance(meta, dict):
            raise ValueError("expected a JSON object")
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else one_line(error)
        return Row(id, id, written, (own,), problem=f"run.json cannot be read: {reason}")
    env = meta.get("env")
    started = _text(meta.get("started"))
    began = _seconds(started)
    name = _text(meta.get("name"))
    title = name if name and not id.startswith(name) else id  # NAME-2 tells more than NAME
    return Row(
        id,
        title,
        began if began is not None else written,
        (replace(own, label=title),),
        _text(meta.get("state")),
        started if began is not None else "",
        _count(meta.get("updates")),
        _count(meta.get("env_steps")),
        _text(env.get("id")) if isinstance(env, Mapping) else "",
        pid=_count(meta.get("pid")),
    )


def _as_it_is(row: Row) -> Row:
    """A run that was killed could not write it down."""
    if row.state != "running" or (row.pid and alive(row.pid)):
        return row
    newest = max((_written(each.folder) for each in row.processes), default=0.0)
    return row if time.time() - newest < _QUIET else replace(row, state="killed")


def _written(folder: Path) -> float:
    return max((_stat(folder / name)[0] for name in ("run.json", "readings.jsonl", "script.jsonl")), default=0.0)


def _stat(file: Path) -> tuple[float, int]:
    """When it was written, and its size; zeros where it is not there."""
    try:
        about = os.lstat(file)
    except OSError:
        return 0.0, 0
    return about.st_mtime, about.st_size


def _with_children(own: Process) -> tuple[Process, ...]:
    """Processes that a run has started itself, where they recorded something. Where the first one trains nothing, the
    busiest of them is the run; when it ends, that one's readings are copied to it."""
    folder = own.folder / _CHILDREN
    if folder.is_symlink():
        return (own,)
    try:
        names = sorted(
            each.name for each in os.scandir(folder) if _NUMBER.fullmatch(each.name) and not each.is_symlink()
        )
    except OSError:
        return (own,)
    size = _stat(own.folder / "readings.jsonl")[1]
    sizes = {name: _stat(folder / name / "readings.jsonl")[1] for name in names[:_MOST_CHILDREN]}
    children = [
        Process(f"{own.id}/{_CHILDREN}/{name}", folder / name, f"{own.label}, process {int(name)}")
        for name, each in sizes.items()
        if each and each != size
    ]
    if size or not children:
        return (own, *children)
    # The first of those that are about as busy: they grow side by side, and the page should stay with one.
    busiest = max(sizes.values())
    first = next(each for each in children if 2 * sizes[each.folder.name] >= busiest)
    return (first, *(each for each in children if each is not first))


def _job(first: Row, more: list[tuple[int, Row]]) -> Row:
    """The ranks of a job are one run."""
    own = [replace(one, label=f"{first.title}, rank {rank}") for rank, row in more for one in row.processes[:1]]
    return replace(first, processes=(*first.processes, *own)) if own else first


def _text(value: Any) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def _seconds(started: str) -> float | None:
    try:
        return datetime.strptime(started, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        return None
