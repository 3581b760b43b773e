"""Children: processes that the program starts to train in. Each is watched into a folder of its own below the run's.

Forked ones have our hooks already, which look away there: they are taken off, and put on anew. Spawned ones begin with
an empty interpreter, and are told by their command line where to record. Only processes that run a function of the
program's own are watched, not those that a library starts for its environments.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable
from multiprocessing import spawn
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "threads"
FOLDER = "children"
_MOST = 16  # that are watched
_DEEP = 2

_coming: tuple[str, float, tuple[str, ...]] | None = None  # the folder, and options, of the one that is being started
_started = 0


# ── in the process that starts them ─────────────────────────────────────────────────────────────────────────────────


def install(session: Session) -> None:
    from rldebug.capture import elsewhere  # torch with it: who only reads what was recorded does without

    global _started
    _started = 0
    session.listener = elsewhere.listen(session)
    here = os.getpid()
    session.switch.replace(GROUP, BaseProcess, "_bootstrap", lambda original: _bootstrap(original, here, session))
    session.switch.replace(GROUP, spawn, "get_command_line", _command)


def expected(session: Session, process: Any) -> None:
    """Before a process is started."""
    global _coming, _started
    _coming = None
    if session.watch_child is None or _started >= _MOST or not _runs_users_code(process):
        return
    folder = session.folder.absolute() / FOLDER / f"{_started:02d}"
    _started += 1
    session.listener.expect(folder)
    _coming = (str(folder), session.options.overhead_budget, session.options.without)


def started() -> None:
    global _coming
    _coming = None


def _runs_users_code(process: Any) -> bool:
    from rldebug.capture.place import is_users

    target = getattr(process, "_target", None)
    functions = [target, type(process).run, *(getattr(process, "_args", ()) or ())[:_DEEP]]
    for each in functions:
        each = getattr(each, "func", each)
        code = getattr(getattr(each, "__func__", each), "__code__", None)
        if code is not None and is_users(code.co_filename):
            return True
    return False


def _command(original: Callable[..., list[str]]) -> Any:
    @functools.wraps(original)
    def get_command_line(**kwargs: Any) -> list[str]:
        words = original(**kwargs)
        if _coming is None or "-c" not in words:
            return words
        place = words.index("-c") + 1
        ours = f"try:\n import rldebug.child\n rldebug.child.expect({_coming!r})\nexcept Exception: pass\n"
        return [*words[:place], ours + words[place], *words[place + 1 :]]

    return get_command_line


# ── in the child ────────────────────────────────────────────────────────────────────────────────────────────────────


def _bootstrap(original: Callable[..., Any], parent: int, before: Session) -> Any:
    @functools.wraps(original)
    def bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _coming is None or os.getpid() == parent:
            return original(self, *args, **kwargs)
        watch = before.watch_child
        try:
            _leave(before)
        except Exception:
            watch = None  # two who watch would count everything twice
        end = watch(_coming) if watch is not None else None
        try:
            return original(self, *args, **kwargs)
        finally:
            if end is not None:
                end()

    return bootstrap


def _leave(before: Session) -> None:
    """What the parent was doing goes on there alone."""
    before._file = None
    before.audit = None
    before.networks.end()
    before.switch.undo()


# ── when all is over ────────────────────────────────────────────────────────────────────────────────────────────────


def gather(folder: Path) -> None:
    """Where the first process trained nothing, what the busiest of its children did is the run."""
    from rldebug.evidence.script import read_script

    places = sorted(each for each in (folder / FOLDER).glob("*") if (each / "script.jsonl").exists())
    if not places:
        return
    own = read_script(folder)
    scripts = [(each, found) for each in places if (found := read_script(each)) is not None]
    lines = [_counted(int(each.name), found) for each, found in scripts]
    busy = max(scripts, key=lambda each: int(each[1].counts.get("updates", 0) or 0), default=None)
    with (folder / "script.jsonl").open("a", encoding="utf-8") as file:
        if busy is not None and own is not None and not own.counts.get("updates") and busy[1].counts.get("updates"):
            file.write((busy[0] / "script.jsonl").read_text(encoding="utf-8"))
            _adopt(busy[0], folder)
            lines = [{**line, "told": line["number"] == int(busy[0].name)} for line in lines]
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _adopt(child: Path, folder: Path) -> None:
    (folder / "audits").mkdir(exist_ok=True)
    for each in (folder / "audits").glob("*.npz"):
        each.unlink()  # of a process that learned nothing
    for each in (child / "audits").glob("*.npz"):
        shutil.copyfile(each, folder / "audits" / each.name)
    if (child / "readings.jsonl").exists():
        shutil.copyfile(child / "readings.jsonl", folder / "readings.jsonl")
    try:
        meta = json.loads((folder / "run.json").read_bytes())
        theirs = json.loads((child / "run.json").read_bytes())
    except (OSError, ValueError):
        return
    for name in ("updates", "env_steps", "optimizers", "modules", "env", "steps", "calls", "facts"):
        if theirs.get(name):
            meta[name] = theirs[name]
    (folder / "run.json").write_text(json.dumps(meta), encoding="utf-8")


def _counted(number: int, script: Any) -> dict[str, Any]:
    """That it was there; what it did is compared when the run is read, see forensics/rank_summary.py."""
    counts = {name: script.counts.get(name, 0) for name in ("updates", "env_steps")}
    return {"kind": "child", "number": number, **counts}
