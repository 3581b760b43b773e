"""Which run folder is meant: a path, a name, or the newest."""

from __future__ import annotations

import difflib
import re
from bisect import bisect
from collections.abc import Mapping
from pathlib import Path

from rldebug.evidence.run import Run, RunError, read_run

RUNS = Path(".rldebug") / "runs"
_SHOWN = 6  # names in a message
RANK = re.compile(r"(.+)-rank(\d{1,6})(-\d{1,6})?")
COUNT = re.compile(r"-\d{1,6}$")
TOGETHER = 600.0  # seconds between the starts of two ranks of one job
_CANDIDATES = 4  # before, and after


def open_run(wanted: str | None, root: Path = RUNS) -> Run:
    """A run with at least one reading. A folder, else a name under `root`; the one written to last, if None."""
    folder = find_run(wanted, root)
    run = read_run(folder)
    if not run.readings:
        reasons = "; ".join(run.problems[:3]) or "readings.jsonl is empty: no update was recorded"
        more = f"; and {len(run.problems) - 3} more" if len(run.problems) > 3 else ""
        raise RunError(f"{folder} holds no readings: {reasons}{more}")
    return run


def find_run(wanted: str | None, root: Path = RUNS) -> Path:
    """The folder of a run: a path or a name; the one written to last, if None, and of several ranks the first."""
    if wanted is None:
        from rldebug.evidence.ranks import job_of  # which reads folders of runs

        runs = _runs(root)
        if not runs:
            how = "record one with `rldebug run train.py` or rldebug.watch(...), or name a run folder"
            raise RunError(f"no runs under {root}: {how}")
        job = job_of(runs[0])
        return runs[0] if job is None else next(iter(job.members.values())).folder
    for folder in (Path(wanted), root / wanted):
        if folder.is_dir():
            return folder
    if Path(wanted).exists():
        raise RunError(f"{wanted} is not a run folder: expected a folder with run.json and readings.jsonl")
    raise RunError(f"no run called {wanted}: it is not a folder, and {_instead(wanted, root)}")


def title_of(run: Run) -> str:
    return str(run.meta.get("name") or (run.path.name if run.path is not None else "run"))


def ranks(started: Mapping[str, float | None]) -> dict[str, dict[int, str]]:
    """Folders that are one run: the name of its first process's folder, and the others by rank.

    `started`: when each folder's process began, in seconds. A job that was started twice has NAME and NAME-2, but its
    ranks may be counted otherwise (NAME-rank1 beside NAME-2, where NAME was one process alone): who began together
    belongs together. Where that is not known, those of the same count do.
    """
    firsts: dict[str, list[tuple[float, str]]] = {}  # of each name: NAME, NAME-2, NAME-3 …, by when they began
    for name, when in started.items():
        if when is not None and RANK.fullmatch(name) is None:
            for stem in {name, COUNT.sub("", name)}:
                firsts.setdefault(stem, []).append((when, name))
    for each in firsts.values():
        each.sort()
    pairs: list[tuple[float, str, int, str]] = []
    for name, when in started.items():
        match = RANK.fullmatch(name)
        if match is None:
            continue
        alike = f"{match[1]}{match[3] or ''}"
        if when is None or started.get(alike, 0.0) is None:
            pairs += [(0.0, alike, int(match[2]), name)] if alike in started else []
        else:
            near = _near(firsts.get(match[1], []), when)
            pairs += [(abs(then - when), first, int(match[2]), name) for then, first in near]
    placed: set[str] = set()
    jobs: dict[str, dict[int, str]] = {}
    for apart, first, rank, name in sorted(pairs):
        if apart <= TOGETHER and name not in placed and rank not in jobs.get(first, {}):
            jobs.setdefault(first, {})[rank] = name
            placed.add(name)
    # A rank whose first process left nothing stands for itself.
    return {name: dict(sorted(jobs.get(name, {}).items())) for name in started if name not in placed}


def _near(firsts: list[tuple[float, str]], when: float) -> list[tuple[float, str]]:
    place = bisect(firsts, (when, ""))
    return firsts[max(place - _CANDIDATES, 0) : place + _CANDIDATES]


def _runs(root: Path) -> list[Path]:
    """Run folders, the one written to last first."""
    if not root.is_dir():
        return []
    written = {
        folder: max((file.stat().st_mtime_ns for file in folder.glob("*.json*")), default=0)
        for folder in root.iterdir()
        if (folder / "run.json").is_file()
    }
    return sorted(written, key=lambda folder: (-written[folder], folder.name))


def _instead(wanted: str, root: Path) -> str:
    names = [folder.name for folder in _runs(root)]
    if not names:
        return f"there are no runs under {root}"
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    if close:
        return f"{root} has none of that name; did you mean {' or '.join(close)}?"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{root} holds {', '.join(names[:_SHOWN])}{more}"
