"""Toggle: whether its user wants something switched, by the key r on the terminal or by touching a file.

Keys are read in the program's own steps and never by a thread: while the program itself waits for its user, nobody else
reads. The terminal hands keys over one by one from the first step on, and is put back when the program ends, stops, or
calls input(). A program that reads the keyboard keeps it: then there is the file.
"""

from __future__ import annotations

import builtins
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_KEYS = 0.1  # seconds between two looks
_FILE = 1.0
_READS = re.compile(
    r"\binput\(|\bstdin\b|\bgetpass\b|\bbreakpoint\(|\bi?pdb\b|\bcurses\b|\btermios\b|\bprompt_toolkit\b"
)


class Toggle:
    """`asked` is called as often as one likes; `due` says from which time.monotonic() on it looks."""

    def __init__(self, file: Path, keys: Keys | None) -> None:
        self.file, self.keys = file, keys
        self.due = 0.0
        self._file_due = 0.0
        self._touched = _touched(file)

    def asked(self, now: float) -> bool:
        """Whether it was asked for since the last look; twice is not at all."""
        self.due = now + _KEYS
        asked = self.keys is not None and self.keys.pressed()
        if now >= self._file_due:
            self._file_due = now + _FILE
            touched = _touched(self.file)
            if touched is not None and touched != self._touched:
                asked = not asked
            self._touched = touched if touched is not None else self._touched
        return asked

    def close(self) -> None:
        if self.keys is not None:
            self.keys.close()


def _touched(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def keys_of(script: str | None) -> Keys | None:
    """None where there is no terminal, or where the program may read from it itself."""
    try:
        if termios is None or sys.stdin is None or not os.isatty(sys.stdin.fileno()):
            return None
        text = "" if script is None else Path(script).read_text(encoding="utf-8", errors="replace")
        return None if _READS.search(text) else Keys(sys.stdin.fileno())
    except (OSError, ValueError):
        return None


class Keys:
    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._saved: Any = None  # its settings, while they are ours
        self._off = False
        self._undo: list[Callable[[], None]] = []
        self._pid = os.getpid()

    def pressed(self) -> bool:
        """Whether r was, an odd number of times; other keys mean nothing. Only of the main thread: as input()."""
        if self._off or threading.current_thread() is not threading.main_thread() or os.getpid() != self._pid:
            return False
        try:
            if not self._in_foreground():
                return False  # to read would stop the program
            self._listen()
            keys = b""
            while select.select([self._terminal], [], [], 0)[0]:
                got = os.read(self._terminal, 1024)
                if not got:
                    break
                keys += got
            return keys.lower().count(b"r") % 2 == 1
        except (OSError, ValueError, termios.error):
            self.close()
            return False

    def close(self) -> None:
        """Put everything back; never raises."""
        self._off = True
        if os.getpid() != self._pid:
            return
        self._put_back()
        while self._undo:
            self._undo.pop()()

    def _in_foreground(self) -> bool:
        return os.tcgetpgrp(self._terminal) == os.getpgrp()

    def _listen(self) -> None:
        if self._saved is not None:
            return
        settings = termios.tcgetattr(self._terminal)
        self._saved = termios.tcgetattr(self._terminal)
        settings[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C and Ctrl-Z stay what they are
        settings[6][termios.VMIN], settings[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._terminal, termios.TCSANOW, settings)
        if not self._undo:
            self._notice_input()
            self._notice_stop()

    def _put_back(self) -> None:
        saved, self._saved = self._saved, None
        if saved is None:
            return
        try:
            if not self._in_foreground():
                return  # whose the terminal is now has put it right; from here it would stop the program
            # What is not ours to change may have been changed by the program.
            settings = termios.tcgetattr(self._terminal)
            ours = termios.ICANON | termios.ECHO
            settings[3] = (settings[3] & ~ours) | (saved[3] & ours)
            for each in (termios.VMIN, termios.VTIME):
                settings[6][each] = saved[6][each]
            termios.tcsetattr(self._terminal, termios.TCSANOW, settings)
        except (OSError, termios.error):
            pass  # the terminal is gone

    def _notice_input(self) -> None:
        plain = builtins.input

        def input(*args: Any) -> Any:
            self.close()  # and not again: whoever asks once asks twice
            return plain(*args)

        def undo() -> None:
            if builtins.input is input:
                builtins.input = plain

        builtins.input = input
        self._undo.append(undo)

    def _notice_stop(self) -> None:
        """Ctrl-Z: the shell gets its terminal as it was; and ours again when the program goes on."""
        if signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
            return

        def stop(number: int, frame: Any) -> None:
            self._put_back()
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTSTP)
            # Here it stands still, and goes on; the next look sets the terminal again.
            if not self._off:
                signal.signal(signal.SIGTSTP, stop)

        def undo() -> None:
            if signal.getsignal(signal.SIGTSTP) is stop:
                signal.signal(signal.SIGTSTP, signal.SIG_DFL)

        signal.signal(signal.SIGTSTP, stop)
        self._undo.append(undo)
