"""Runs one program to its end, in a process of its own, and tells how it ended.

Where the caller is a bare worker process that has torch loaded already, the program runs in a fork of it: starting an
interpreter with torch takes longer than many of the programs do.
"""

from __future__ import annotations

import atexit
import importlib
import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import time
import traceback
import types
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

Status = Literal["ended", "raised", "stopped"]

_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "MPLBACKEND": "Agg"}
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
_ERROR = re.compile(r"^((?:[A-Za-z_]\w*\.)*([A-Z]\w*))(?::|$)", re.MULTILINE)
_WAIT = 4.0  # wall-clock seconds for each CPU second that is allowed: other programs run beside it
_POLL = 0.02
running: set[int] = set()  # programs of this process


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it said."""

    status: Status
    code: int
    cpu: float  # seconds, with those of its children
    wall: float
    out: str
    err: str

    @property
    def error(self) -> str:
        """The class of the exception it ended with."""
        found = _ERROR.findall(self.err[self.err.rfind("Traceback (most recent call last)") :])
        return found[-1][1] if self.status == "raised" and found else ""

    def line(self, folder: Path) -> tuple[str, int] | None:
        """The innermost line of the last traceback that lies in the folder."""
        last = self.err[self.err.rfind("Traceback (most recent call last)") :]
        inside = [(file, int(line)) for file, line in _FRAME.findall(last) if Path(file).parent == folder]
        return (Path(inside[-1][0]).name, inside[-1][1]) if inside else None


def end_at_once() -> NoReturn:
    """Of a worker that is told to stop: an exception would be caught by the pool, and the worker wait for more."""
    for each in running:
        _kill(each)
    os._exit(1)


def load(modules: Iterable[str]) -> None:
    """What most programs import first, loaded before they are forked."""
    for each in modules:
        try:
            importlib.import_module(each)
        except ImportError:
            continue  # whoever needs it will say so


def run_python(
    words: Sequence[str], folder: Path, *, cpu_seconds: float, wall_seconds: float | None = None, forked: bool = False
) -> Ended:
    """`python WORDS` in a folder: a script and its arguments, or `-m module …`."""
    environment = {**os.environ, **_ENVIRONMENT}
    began = time.monotonic()
    with (folder / ".out").open("w+b") as out, (folder / ".err").open("w+b") as err:
        started: subprocess.Popen[bytes] | None = None
        if forked:
            child = os.fork()
            if child == 0:
                _become(words, folder, environment, out.fileno(), err.fileno(), cpu_seconds)
        else:
            started = subprocess.Popen(
                [sys.executable, *words],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: _limit(cpu_seconds),
            )
            child = started.pid
        running.add(child)
        code, cpu, stopped = _wait(child, wall_seconds or _WAIT * cpu_seconds)
        if started is not None:
            started.returncode = code  # waited for above, which also tells the CPU seconds
        texts = []
        for each in (out, err):
            each.seek(0)
            texts.append(each.read().decode("utf-8", "replace"))
    for name in (".out", ".err"):
        (folder / name).unlink()
    stopped = stopped or code == -signal.SIGXCPU
    status: Status = "stopped" if stopped else "raised" if code else "ended"
    return Ended(status, code, cpu, time.monotonic() - began, *texts)


def _wait(child: int, seconds: float) -> tuple[int, float, bool]:
    """Exit status, CPU seconds, and whether it had to be stopped."""
    until, stopped = time.monotonic() + seconds, False
    try:
        while True:
            done, status, used = os.wait4(child, os.WNOHANG if not stopped else 0)
            if done:
                break
            if time.monotonic() > until:
                stopped = True
                _kill(child)
            else:
                time.sleep(_POLL)
    finally:
        _kill(child)  # what it left running; and itself, where Ctrl-C ends the wait
        running.discard(child)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, stopped


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _limit(cpu_seconds: float) -> None:
    whole = int(cpu_seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))


def _become(
    words: Sequence[str], folder: Path, environment: dict[str, str], out: int, err: int, cpu_seconds: float
) -> NoReturn:
    """The child: as if Python had been started with these words. Never comes back."""
    status = 1
    try:
        os.setsid()
        atexit._clear()  # what this process would do at its end is not the program's to do
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(used.ru_utime + used.ru_stime + cpu_seconds)
        os.chdir(folder)
        os.environ.update(environment)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
        status = _run(words, folder)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _run(words: Sequence[str], folder: Path) -> int:
    warnings.simplefilter("ignore")
    for module, reseed in (("numpy.random", "seed"), ("torch", "seed")):  # a fork would share what was drawn at import
        if module in sys.modules:
            getattr(sys.modules[module], reseed)()
    beside = {each.stem for each in folder.iterdir() if each.is_dir() or each.suffix == ".py"}
    for name in [each for each in sys.modules if each.partition(".")[0] in beside]:
        del sys.modules[name]  # what lies beside the program goes before what this process has loaded
    try:
        if words[0] == "-m":
            sys.argv = list(words[1:])
            sys.path[0] = str(folder)
            before = sys.modules["__main__"]  # its globals are still in use
            sys.modules["__main__"] = types.ModuleType("__main__")
            # As `python -m` does: nothing is put back, because what runs at exit asks which program this was.
            runpy._run_module_as_main(words[1])  # type: ignore[attr-defined]
            del before
        else:
            sys.argv = list(words)
            sys.path[0] = str(folder)
            runpy.run_path(str(folder / words[0]), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
