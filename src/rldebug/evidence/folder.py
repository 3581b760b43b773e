"""Which run folder is meant: a path, a name, or the newest."""

from __future__ import annotations

import difflib
from pathlib import Path

from rldebug.evidence.run import Run, RunError, read_run

RUNS = Path(".rldebug") / "runs"
_SHOWN = 6  # names in a message


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
    """The folder of a run: a path or a name; the one written to last, if None."""
    if wanted is None:
        runs = _runs(root)
        if not runs:
            how = "record one with `rldebug run train.py` or rldebug.watch(...), or name a run folder"
            raise RunError(f"no runs under {root}: {how}")
        return runs[0]
    for folder in (Path(wanted), root / wanted):
        if folder.is_dir():
            return folder
    if Path(wanted).exists():
        raise RunError(f"{wanted} is not a run folder: expected a folder with run.json and readings.jsonl")
    raise RunError(f"no run called {wanted}: it is not a folder, and {_instead(wanted, root)}")


def title_of(run: Run) -> str:
    return str(run.meta.get("name") or (run.path.name if run.path is not None else "run"))


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
