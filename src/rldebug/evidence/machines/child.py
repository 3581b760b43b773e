"""Runs what may crash or hang in processes of their own, side by side, each with a limit of time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rldebug.evidence.machine import Outcome, Trial

_HEARD = 2000  # letters of what a trial printed
_SAID = 400  # of an exception

# What every trial begins with: at() says what comes next, tell() hands facts over. Both are on disk at once, so that
# they outlive the process. A file in the current folder must not be imported in place of what is looked for.
_PRELUDE = """
import json, sys, warnings
sys.path[:] = [each for each in sys.path if each]
_told = open(sys.argv[1], "a", encoding="utf-8", buffering=1)
def tell(**facts):
    _told.write(json.dumps(facts) + "\\n")
def at(stage):
    tell(_stage=stage)
def _raised(kind, error, trace):
    tell(_error=f"{kind.__name__}: {error}")
sys.excepthook = _raised
_warned = []
def _warn(message, category, *rest, **more):
    _warned.append(str(message))
    tell(warnings=_warned)
warnings.showwarning = _warn
"""


@dataclass(frozen=True)
class Attempt:
    """A trial that is still to be made."""

    name: str
    code: str
    seconds: float = 20.0
    variables: Mapping[str, str] = field(default_factory=dict)  # set in its process only
    arguments: tuple[str, ...] = ()


def try_all(attempts: Sequence[Attempt], jobs: int, done: Callable[[str], None] = lambda name: None) -> list[Trial]:
    """In the order given; `done` hears the name of each as it ends."""

    def one(attempt: Attempt) -> Trial:
        trial = attempt_in_child(attempt)
        done(attempt.name)
        return trial

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        return list(pool.map(one, attempts))


def attempt_in_child(attempt: Attempt) -> Trial:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rldebug-doctor-") as folder:
        told, printed = Path(folder, "told"), Path(folder, "printed")
        command = [sys.executable, "-c", _PRELUDE + attempt.code, str(told), *attempt.arguments]
        with printed.open("wb") as out:  # a pipe could be held open by a grandchild
            status = run_limited(command, attempt.seconds, out, {**os.environ, **attempt.variables})
        facts = _facts(told)
        heard = printed.read_text(encoding="utf-8", errors="replace").strip()
    stage, error = str(facts.pop("_stage", "")), str(facts.pop("_error", ""))
    outcome, said = _ended(status, error, heard, attempt.seconds)
    return Trial(
        attempt.name,
        outcome,
        "" if outcome == "ok" else stage,
        said,
        heard if len(heard) <= _HEARD else f"{heard[: _HEARD // 2]} … {heard[-_HEARD // 2 :]}",
        round(time.monotonic() - began, 2),
        facts,
    )


def run_limited(command: Sequence[str], seconds: float, out: Any, variables: Mapping[str, str]) -> int | None:
    """The exit status; None where it had to be ended. Its whole group is ended then, and waiting for that is limited:
    a process inside a driver that hangs cannot even be killed."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=dict(variables),
        start_new_session=True,
    )
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _end_group(child)
    try:
        child.wait(1.0)
    except subprocess.TimeoutExpired:
        pass
    return None


def _end_group(child: subprocess.Popen[Any]) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except (ProcessLookupError, PermissionError):
        pass  # it has ended, with all that it started


def _ended(status: int | None, error: str, heard: str, seconds: float) -> tuple[Outcome, str]:
    if status is None:
        return "hung", f"did not end within {seconds:g} s"
    if status < 0:
        return "died", f"ended by {_signal(-status)}"
    if status == 0:
        return "ok", ""
    last = (heard.splitlines() or [f"ended with status {status}"])[-1]
    said = " ".join((error or last).split())
    if not error and status > 128 and os.name == "nt":
        return "died", f"ended with status {status:#x}"
    return "error", said if len(said) <= _SAID else f"{said[:_SAID]} …"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _facts(file: Path) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                facts.update(json.loads(line))
            except ValueError:
                pass  # cut off as the process died
    return facts
