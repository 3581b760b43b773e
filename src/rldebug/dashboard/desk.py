"""What is known of all runs that are looked at, by however many pages: read once, judged once, drawn once."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rldebug.dashboard.followed import Followed
from rldebug.dashboard.judging import JudgeError, Judging
from rldebug.dashboard.runs import Process, Row, Runs
from rldebug.dashboard.written import counted, read_findings
from rldebug.evidence.ladder_file import Kept, read_ladders
from rldebug.render.page import extent
from rldebug.render.page import runs as legend
from rldebug.render.sections.shelf import sections
from rldebug.render.shown import Section, e

_LOOKED_AT = 60.0  # seconds after which a page that was asked for once counts as closed
_FIRST = 0.3  # seconds of reading before a page is drawn for the first time
_SLICE = 0.2  # seconds of reading on, of all that is looked at
_FOLLOWED = 16  # runs that are kept in mind
_PAGES = 8  # drawn, that are kept
_RANKS, _OTHERS = 7, 5  # that are drawn beside a run
_KILLED = "the program was killed, or its machine went down: no end was recorded"
_LISTED = 500  # runs; older ones are counted


class NoSuchRun(LookupError):
    """The id names no run."""


class Desk:
    """Methods may be called from any thread; those that read or draw take a while."""

    def __init__(self, root: Path, only: str | None = None, judging: Judging | None = None) -> None:
        self.runs = Runs(root, only)
        self.judging = judging or Judging()
        self.lookers: Counter[str] = Counter()  # open pages, by the run they show
        self.verdicts: dict[str, dict[str, int]] = {}
        self._at_the_end: dict[str, dict[str, int] | None] = {}
        self._asked: dict[str, float] = {}  # when a page of a run was last asked for
        self._followed: OrderedDict[str, Followed] = OrderedDict()
        self._pages: OrderedDict[Any, bytes] = OrderedDict()
        self._lock, self._drawing = threading.RLock(), threading.Lock()
        self._judge = ThreadPoolExecutor(1, "judge")
        self._probes = root.absolute().parent / "probes"
        self._ladders: tuple[float, list[Kept]] = (-1.0, [])

    def close(self) -> None:
        self.judging.close()
        self._judge.shutdown(wait=True, cancel_futures=True)

    # ── what goes on ────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self) -> bool:
        """A look at all that may have changed; True where there is more to read at once."""
        self.runs.look()
        with self._lock:
            rows = [row for id in self._looked_at() if (row := self.runs.rows.get(id)) is not None]
            followed = {each.process.id: (each, row) for row in rows for each in self._of(row)}
        more = False
        for each, row in followed.values():
            more |= each.read(_SLICE / len(followed))
            if each.due(row.state == "running"):
                each.begin_judging()
                self._judge.submit(self._have_judged, each, row.id)
        self.judging.tidy()
        return more

    def _have_judged(self, each: Followed, id: str) -> None:
        each.judge(self.judging.ask, JudgeError)
        if (verdict := each.verdict) is not None and each.process.id == self._first(id):
            self.verdicts[id] = verdict
            self.runs.version += 1

    def _first(self, id: str) -> str | None:
        row = self.runs.rows.get(id)
        return row.processes[0].id if row is not None and row.processes else None

    def _looked_at(self) -> set[str]:
        since = time.monotonic() - _LOOKED_AT
        self._asked = {id: when for id, when in self._asked.items() if when > since}
        return {*self._asked, *(id for id, count in self.lookers.items() if count > 0)}

    def _of(self, row: Row) -> list[Followed]:
        return [self._follow(each) for each in row.processes[: 1 + _RANKS]]

    def _follow(self, process: Process) -> Followed:
        """With the lock held."""
        found = self._followed.get(process.id)
        if found is None or found.process.folder != process.folder:
            found = self._followed[process.id] = Followed(process)
        self._followed.move_to_end(process.id)
        while len(self._followed) > max(_FOLLOWED, 2 * (1 + _RANKS) * max(len(self._looked_at()), 1)):
            self._followed.popitem(last=False)
        return found

    # ── what is asked for ───────────────────────────────────────────────────────────────────────────────────────────

    def versions(self, ids: Iterable[str]) -> dict[str, str]:
        """Of runs that are looked at: as long as it stays the same, nothing is new."""
        with self._lock:
            rows = [(id, self.runs.rows.get(id)) for id in ids]
            return {id: self._version(row) for id, row in rows if row is not None}

    def _version(self, row: Row) -> str:
        known = [self._followed.get(each.id) for each in row.processes[: 1 + _RANKS]]
        return ".".join([row.state, *(str(each.version) if each is not None else "" for each in known)])

    def listing(self) -> dict[str, Any]:
        with self._lock:
            rows = list(self.runs.rows.values())
            listed = [{**each.to_dict(), **self._counts(each)} for each in rows[:_LISTED]]
        return {
            "runs": listed,
            "more": len(rows) - len(listed),
            "problem": self.runs.problem,
            "version": self.runs.version,
        }

    def _counts(self, row: Row) -> dict[str, Any]:
        told: dict[str, Any] = {"verdict": self.verdicts.get(row.id) or self._written(row)}
        followed = self._followed.get(row.processes[0].id) if row.processes else None
        if row.state == "running" and followed is not None:
            told["updates"], told["env_steps"] = followed.counts
        return told

    def _written(self, row: Row) -> dict[str, int] | None:
        """How it was judged at its end, where nobody has looked at it since."""
        if row.state == "running" or not row.processes:
            return None
        if row.id not in self._at_the_end:
            report = read_findings(row.processes[0].folder)
            self._at_the_end[row.id] = None if report is None else counted(report)
        return self._at_the_end[row.id]

    def page(self, id: str, beside: Sequence[str] = ()) -> bytes:
        """The sections of a run, with others beside it, as JSON. Raises NoSuchRun."""
        with self._lock:
            rows = [self._row(each) for each in dict.fromkeys([id, *beside])][: 1 + _OTHERS]
            now = time.monotonic()
            self._asked.update({row.id: now for row in rows})
            main, *ranks = self._of(rows[0])
            followed = [main, *ranks, *(self._follow(row.processes[0]) for row in rows[1:])]
        for each in followed:
            if not each.version:
                each.read(_FIRST)
        with self._drawing:
            ladders = self._kept()
            versions = self.versions(row.id for row in rows)
            key = (tuple(versions.items()), tuple(each.version for each in followed), id, self._ladders[0])
            if key not in self._pages:
                self._pages[key] = self._draw(rows, followed, ladders, versions)
            self._pages.move_to_end(key)
            while len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
            return self._pages[key]

    def _row(self, id: str) -> Row:
        row = self.runs.rows.get(id)
        if row is None or not row.processes:
            raise NoSuchRun(id)
        return row

    def _draw(
        self, rows: Sequence[Row], followed: Sequence[Followed], ladders: Sequence[Kept], versions: dict[str, str]
    ) -> bytes:
        main, *others = followed
        all_shown = [
            main.shown(_pictures(main.process.id), _how_it_stands(rows[0]), ladders=tuple(ladders)),
            *(each.shown(_pictures(each.process.id)) for each in others),
        ]
        if rows[0].state == "killed":  # it could not write that down
            run = all_shown[0].run
            all_shown[0] = replace(all_shown[0], run=replace(run, meta={**run.meta, "state": "killed"}))
        made = sections(all_shown[0], all_shown[1:])
        if all_shown[0].report is None:
            made = [_unjudged(main, rows[0]) if each.id == "diagnosis" else each for each in made]
        page = {
            "sections": [each.to_dict() for each in made],
            "extent": extent(all_shown),
            "legend": legend(all_shown) if len(all_shown) > 1 else "",
            "runs": [row.id for row in rows],
            "versions": versions,
        }
        try:
            return json.dumps(page, allow_nan=False).encode()
        except ValueError:
            return json.dumps(_finite(page), allow_nan=False).encode()

    def _kept(self) -> list[Kept]:
        """Ladders of probes that lie beside the runs."""
        try:
            newest = max((each.stat().st_mtime for each in self._probes.glob("*.json")), default=0.0)
        except OSError:
            newest = 0.0
        if newest != self._ladders[0]:
            self._ladders = (newest, read_ladders(self._probes) if newest else [])
        return self._ladders[1]


def _pictures(id: str) -> Any:
    def address(file: Path) -> str:
        """The time it was written makes a new picture a new address."""
        return f"/media/{quote(id, safe='')}/{quote(file.parent.name)}/{quote(file.name)}?v={file.stat().st_mtime_ns}"

    return address


def _how_it_stands(row: Row) -> str:
    words = [_KILLED] if row.state == "killed" else []
    if (more := len(row.processes) - 1 - _RANKS) > 0:
        words.append(f"{more} more of its processes are not drawn")
    return "; ".join(words)


def _unjudged(followed: Followed, row: Row) -> Section:
    reason = followed.unjudged
    if not reason:
        return Section("diagnosis", "Diagnosis", '<p class="verdict">being looked at …</p>')
    if row.state == "running":
        return Section("diagnosis", "Diagnosis", f'<p class="verdict">nothing to say yet</p><p>{e(reason)}</p>')
    words = f'<p class="verdict">could not be looked at</p><p class="problem">{e(reason)}</p>'
    return Section("diagnosis", "Diagnosis", words)


def _finite(value: Any) -> Any:
    """Whatever a section has let through."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value
