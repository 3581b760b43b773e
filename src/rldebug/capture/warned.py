"""Warnings that the program was given: each once, with the place and what lay there.

Python asks for `_showwarnmsg` by name whenever its filters let a warning through. What becomes of it from there, the
program's own `showwarning` or `catch_warnings`, stays as it is; a warning that the program does not want to see is not
seen here either.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from rldebug.capture.stand_in import stand_in
from rldebug.evidence.crash import crash_of_warning
from rldebug.evidence.crashes.origin import is_ours

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "warnings"
_KEPT = 32


class Warned:
    def __init__(self, session: Session) -> None:
        self.session = session
        self._seen: set[tuple[str, str, str, int]] = set()

    def showing(self, original: Callable[..., Any]) -> Any:
        def _showwarnmsg(message: Any) -> Any:
            self.session.switch.guard(GROUP, self.saw, message, sys._getframe(1))
            return original(message)

        return stand_in(original, _showwarnmsg)

    def saw(self, told: Any, frame: FrameType | None) -> None:
        while frame is not None and frame.f_globals.get("__name__") in ("warnings", "_py_warnings"):
            frame = frame.f_back
        if frame is None or is_ours(frame.f_code.co_filename) or len(self._seen) >= _KEPT:
            return
        text = str(told.message)
        key = (told.category.__name__, re.sub(r"\d+", "", text)[:200], frame.f_code.co_filename, frame.f_lineno)
        if key in self._seen:
            return
        self._seen.add(key)
        with self.session.timed():
            counts = {"env_steps": self.session.log.steps, "updates": self.session.updates}
            self.session.warned.append(crash_of_warning(text, told.category, frame, **counts))


def install(session: Session) -> None:
    if hasattr(warnings, "_showwarnmsg"):
        session.switch.replace(GROUP, warnings, "_showwarnmsg", Warned(session).showing)
