"""Lookout: what is certain about a program is said while it runs (`--live`), and stops it if asked to (`--stop-on`).

It looks from within the program, between two phases, or has another process look (looking.py), which cannot stop it.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from rldebug.finding import Finding, Report, Severity

if TYPE_CHECKING:
    from rldebug.looking import Looking
    from rldebug.render.live import Live
    from rldebug.wishes import Wishes

FAILED = 3  # exit status where --fail-on or --stop-on found what they look for
_FIRST_LOOK = 2.0  # seconds after the beginning
_SECOND_LOOK = 8.0  # seconds after the first, most of which goes into importing the rules
_LOOKING = 0.03  # share of the wall clock that may go into looking while the program runs
_STUBBORN = 8  # times that a program is stopped from within, before it is stopped from without
_SURE = 0.95  # confidence of a finding that need not be made twice


class Stopped(BaseException):
    """Raised in the program, where --stop-on found what it looks for. No Exception: programs catch those, and go on."""


class Lookout:
    def __init__(
        self, wishes: Wishes, rank: str, say: Callable[[str], None], sandbox: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.wishes = wishes
        self.live: Live | None = None  # where findings are shown in lines of their own
        self.looking: Looking | None = None
        self.reason: Finding | None = None  # why the program is to stop
        self.next_look = time.monotonic() + _FIRST_LOOK
        self._first = rank == "0"
        self._say, self._sandbox = say, sandbox
        self._looked = False
        self._candidates: set[str] = set()
        self._stops = 0
        self._said: set[str] = set()

    @property
    def wanted(self) -> bool:
        return (self.wishes.live or self.wishes.stop_on is not None) and not self.wishes.record_only

    @property
    def apart(self) -> bool:
        """Whether it is looked at in another process. That knows what is configured, and cannot stop the program."""
        wishes = self.wishes
        here = wishes.stop_on or wishes.select or wishes.ignore or wishes.record_only
        return wishes.live and not here and self._first

    def begin_apart(self, folder: Path) -> str | None:
        """What was in the way, if anything was."""
        from rldebug.looking import Looking

        try:
            self.looking = Looking(folder)
        except OSError as error:
            return f"it was not looked at while it ran: {error}"
        return None

    def look(self, judge: Callable[[], Report]) -> None:
        """Called from within the program: say what is certain by now, and stop it where that was asked for."""
        if threading.current_thread() is not threading.main_thread():
            return
        now = time.monotonic()
        if self.reason is None and now >= self.next_look:
            with self._sandbox():
                self.reason = self.tell(judge())
            spent = time.monotonic() - now
            pause = max(spent / _LOOKING, 1.0)
            self.next_look = now + spent + (pause if self._looked else min(pause, _SECOND_LOOK))
            self._looked = True
        if self.reason is not None:
            self._stops += 1
            if self._stops > _STUBBORN:  # it catches everything, and goes on
                os._exit(FAILED)
            raise Stopped(f"{self.reason.severity}[{self.reason.code}] {self.reason.message}")

    def hear(self) -> float:
        """Say what was found in another process; when to ask again."""
        looking = self.looking
        if looking is None:
            return math.inf
        with self._sandbox():
            report = looking.poll()
            if report is not None:
                self.tell(report)
            if looking.failed and self.live is not None:
                self.live.unjudged = "no longer looked at while it runs"
            return looking.due
        looking.close()
        return math.inf

    def tell(self, report: Report) -> Finding | None:
        """Say what is certain; what the program is to be stopped for."""
        if self.live is not None:
            self.live.found(report)
        seen = {each.code for each in report.roots}
        certain = [
            each
            for each in report.roots
            if each.severity != "note" and (each.confidence >= _SURE or each.code in self._candidates)
        ]
        self._candidates = seen
        for each in certain:
            if self.wishes.live and self._first and each.code not in self._said:
                self._say(f"rldebug: {each.severity}[{each.code}] {each.message} ({each.where})")
            self._said.add(each.code)
        return next((each for each in certain if as_severe(each, self.wishes.stop_on)), None)

    def end(self) -> str | None:
        """Nobody looks any more; what went wrong, if anything did."""
        if self.looking is None:
            return None
        failed = self.looking.failed
        self.looking.close()
        return f"looking while it runs stopped: {failed}" if failed else None


def as_severe(finding: Finding, as_: Severity | None) -> bool:
    """Findings that follow from others are left to those."""
    return as_ is not None and (finding.severity == "error" or finding.severity == as_)
