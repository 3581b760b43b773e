"""Threads and processes that the program starts: by whom, to do what, and which shared networks they are handed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from torch import nn

from rldebug.capture import children
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import stand_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "threads"
_LINES = 64  # lines that start something
_NOTED = 4  # notes of one line before they get rarer
_DEEP = 2  # how deep arguments are searched for networks
_WIDE = 64


def install(session: Session) -> None:
    started: dict[tuple[Any, ...], int] = {}
    children.install(session)
    # Every kind of process, fork or spawn, of torch or of the standard library, begins with this method.
    session.switch.replace(GROUP, BaseProcess, "start", lambda original: _start(session, started, original, "process"))
    session.switch.replace(
        GROUP, threading.Thread, "start", lambda original: _start(session, started, original, "thread")
    )


def _start(session: Session, started: dict[tuple[Any, ...], int], original: Callable[..., Any], what: str) -> Any:
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Before it starts: a thread forgets its target when it ends.
        session.switch.guard(GROUP, _saw, session, started, what, self)
        if what == "thread":
            return original(self, *args, **kwargs)
        session.switch.guard(GROUP, children.expected, session, self)
        try:
            return original(self, *args, **kwargs)
        finally:
            children.started()

    return stand_in(original, start)


def _saw(session: Session, started: dict[tuple[Any, ...], int], what: str, worker: Any) -> None:
    target = getattr(worker, "_target", None)
    named = target if target is not None else type(worker)
    module = str(getattr(named, "__module__", "") or "")
    if module.partition(".")[0] == "rldebug":
        return
    line = users_line()
    does = f"{module}.{getattr(named, '__qualname__', type(named).__name__)}"
    times = started.get((what, line, does), 0) + 1
    if times == 1 and len(started) >= _LINES:
        return
    started[what, line, does] = times
    if times > _NOTED and times & (times - 1):
        return
    handed = [getattr(worker, "_args", ()) or (), getattr(worker, "_kwargs", {}) or {}]
    session.note(
        "thread",
        what=what,
        does=does,
        line=line,
        times=times,
        daemon=bool(getattr(worker, "daemon", False)),
        method=getattr(worker, "_start_method", None) if what == "process" else None,
        networks=[
            {"name": session.registry.known(each) or type(each).__name__, "shared": _shared(each)}
            for each in _networks(handed, _DEEP)
        ],
    )


def _networks(value: Any, deep: int) -> list[nn.Module]:
    if isinstance(value, nn.Module):
        return [value]
    if deep < 0:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return []
    return [found for each in value[:_WIDE] for found in _networks(each, deep - 1)][:_WIDE]


def _shared(module: nn.Module) -> bool:
    first = next(module.parameters(), None)
    return first is not None and bool(first.is_shared())  # type: ignore[no-untyped-call]
