"""A process that a watched program has started, watched as its parent is. Light: a spawned child begins with it."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from rldebug.launch import when_imported

Given = tuple[str, float, tuple[str, ...]]
"""The folder, the overhead budget, the groups of hooks to leave out."""


def expect(given: Given) -> None:
    """In a spawned child, before anything else: watch it as soon as it has imported torch."""
    ends: list[Callable[[], None]] = []
    original = BaseProcess._bootstrap  # type: ignore[attr-defined]

    @functools.wraps(original)
    def bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            for end in ends:
                end()

    BaseProcess._bootstrap = bootstrap  # type: ignore[attr-defined]
    when_imported("torch", lambda: ends.append(watch(given)))


def watch(given: Given, *, late: bool = False) -> Callable[[], None]:
    """Never raises; gives what is to be called at the end, which never raises either. `late`: it has begun already."""
    folder = Path(given[0])
    try:
        from rldebug.capture.elsewhere import FILE, Teller
        from rldebug.capture.ring import Ring
        from rldebug.capture.session import Options, Session
        from rldebug.follow import Follower

        folder.mkdir(parents=True, exist_ok=True)
        session = Session(folder, Options(overhead_budget=given[1], without=given[2], late=late))
        if (folder / FILE).exists():
            session.told = Teller(session, Ring(folder / FILE))
        follower = Follower(session, folder)
        session.install()
    except Exception:
        _complain(folder)
        return lambda: None

    def end() -> None:
        try:
            session.finish()
            follower.close(state="finished")
        except Exception:
            _complain(folder)

    return end


def _complain(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "broken.txt").write_text(traceback.format_exc(), encoding="utf-8")
    except OSError:
        pass
