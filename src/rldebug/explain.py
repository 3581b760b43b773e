"""rldebug.explain: an exception that leaves a training loop carries a note that says what it means.

    with rldebug.explain():
        train()

    @rldebug.explain()
    def train(): ...

    rldebug.explain().install()  # for everything that comes: in a notebook, for every later cell

The exception stays the same one, and goes on its way. It is looked at once, however many of these it passes.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rldebug.config import Config, ConfigError, read_config
from rldebug.evidence.crashes.text import NOTE

if TYPE_CHECKING:
    from rldebug.evidence.crash import Crash
    from rldebug.evidence.crashes.creation_sites import CreationSites
    from rldebug.finding import Report

P = ParamSpec("P")
R = TypeVar("R")

_SHOWS_NOTES = sys.version_info >= (3, 11)
_IPYTHON_SHOWS_NOTES = (8, 14)
_LONGEST = 2000  # characters of a text that is taken for a message


def explain(*, creation_sites: bool = False) -> Explain:
    """A context manager, a decorator; and with `.install()`, for the rest of the session.

    creation_sites: keep the line that made each part of a graph, for errors of autograd. A fifth slower, or more.
    """
    return Explain(creation_sites=creation_sites)


class Explain:
    def __init__(self, *, creation_sites: bool = False) -> None:
        self._keeps_sites = creation_sites
        self._sites: CreationSites | None = None

    def __enter__(self) -> Explain:
        if self._keeps_sites and self._sites is None:
            self._keep_sites()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if self._sites is not None:
            self._sites.uninstall()
        if error is not None and (told := attach(error)) and not _SHOWS_NOTES:
            _print(told)
        if self._sites is not None:
            self._sites.forget()
            self._sites = None

    def _keep_sites(self) -> None:
        from rldebug.evidence.crashes.creation_sites import CreationSites

        sites = CreationSites()
        self._sites = sites if sites.install() else None

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def explained(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return explained

    def install(self) -> Explain:
        """Explain what nobody catches, from here on: in a script, its threads, and the cells of IPython and Jupyter."""
        if self._keeps_sites:
            self._keep_sites()
        shell = _shell()
        if shell is not None:
            install_in(shell)
        elif not hasattr(sys.excepthook, "explains"):
            sys.excepthook = _hook(sys.excepthook)
            threading.excepthook = _thread_hook(threading.excepthook)
        return self


def attach(error: BaseException, note: str | None = None) -> str:
    """Add the note, or the one given, and give it; empty where there is nothing to say, or it was said before."""
    try:
        if explained(error):
            return ""
        told = note if note is not None else _note(error)
        if told:
            # As add_note() does, which Python 3.10 lacks.
            error.__notes__ = [*getattr(error, "__notes__", ()), told]  # type: ignore[attr-defined,unused-ignore]
        return told
    except Exception:  # the user is to see his own error, not ours
        if os.environ.get("RLDEBUG_TRACEBACK"):
            traceback.print_exc()
        return ""


def explained(error: BaseException) -> bool:
    return any(str(each).lstrip().startswith(NOTE) for each in getattr(error, "__notes__", None) or ())


def judge(crashes: Sequence[Crash], config: Config) -> Report:
    """The report on crashes alone: only rules that read them are imported for it."""
    from rldebug import catalogue
    from rldebug.diagnose import diagnose

    # A rule that is named in a configuration may read anything.
    named = config.select or config.ignore or config.rules
    with catalogue.narrowed(None if named else frozenset({"Crash"})):
        return diagnose(crashes, config=config, command="explain")


def judge_text(text: str, config: Config) -> tuple[Report, tuple[Crash, ...]]:
    """The report on a text, and the errors in it. Where nothing in it reads like one, the whole may still be a message
    that a rule knows."""
    from rldebug.evidence.crash import Crash, crashes_from_text
    from rldebug.evidence.crashes.place import is_last_resort

    crashes = crashes_from_text(text)
    report = judge(crashes or (Crash(type="Exception", message=text.strip()[:_LONGEST]),), config)
    if not crashes:
        report = dataclasses.replace(
            report, findings=tuple(each for each in report.findings if not is_last_resort(each.code))
        )
    return dataclasses.replace(report, exit=0 if report.clean else 1), crashes


def _note(error: BaseException) -> str:
    if not isinstance(error, Exception) or type(error).__module__.partition(".")[0] == "rldebug":
        return ""  # Ctrl-C and sys.exit() are no errors, and ours say themselves what they mean
    from rldebug.evidence.crash import crash_of
    from rldebug.render.note import note

    crash = crash_of(error)
    return note(judge([crash], _config()), crash, cells_of(crash))


def _config() -> Config:
    try:
        return read_config()
    except ConfigError:
        return Config()


def _print(told: str) -> None:
    try:
        print(told, file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass  # nobody reads it any more


# ── for a whole session ─────────────────────────────────────────────────────────────────────────────────────────────


def _hook(original: Callable[..., Any]) -> Callable[..., Any]:
    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        told = attach(error)
        original(kind, error, trace)
        if told and not _SHOWS_NOTES:
            _print(told)

    excepthook.explains = True  # type: ignore[attr-defined]
    return excepthook


def _thread_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    def excepthook(given: Any) -> None:
        told = attach(given.exc_value) if given.exc_value is not None else ""
        original(given)
        if told and not _SHOWS_NOTES:
            _print(told)

    return excepthook


def _shell() -> Any:
    """IPython's, where the program runs in it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def install_in(shell: Any) -> None:
    """Every cell that ends with an exception is explained below its traceback."""
    if "showtraceback" in vars(shell) and hasattr(shell.showtraceback, "explains"):
        return
    original = shell.showtraceback

    @functools.wraps(original)
    def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> Any:
        error = exc_tuple[1] if exc_tuple is not None else sys.exc_info()[1]
        told = attach(error) if error is not None else ""
        shown = original(exc_tuple, *args, **kwargs)
        if told and sys.modules["IPython"].version_info[:2] < _IPYTHON_SHOWS_NOTES:
            _print(told)
        return shown

    showtraceback.explains = True  # type: ignore[attr-defined]
    shell.showtraceback = showtraceback


def cells_of(crash: Crash) -> Mapping[str, str]:
    """The files of cells, as IPython calls them: In[3]."""
    shell = _shell()
    if shell is None:
        return {}
    told = {frame.file: shell.compile.format_code_name(frame.file) for frame in crash.frames}
    return {file: str(name[1]) for file, name in told.items() if name}
