"""Viewer: frames for the window, which is a process of its own. Never waits for it, nor minds when it is gone."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from importlib.util import find_spec

import numpy as np

from rldebug.capture.png import Pixels

MAGIC = b"RLDF"  # before each frame; then its width and height, and its colours row by row
HEAD = struct.Struct(">4sII")


class Viewer:
    def __init__(self, title: str) -> None:
        self.title = title
        self.closed = False  # by its user
        self._gone = False
        self._process: subprocess.Popen[bytes] | None = None
        self._left = b""  # of a frame that the pipe had no room for

    def show(self, pixels: Pixels) -> None:
        """The frame; or nothing, while the window has not taken the last one."""
        if self._gone:
            return
        try:
            pipe = self._pipe()
            if not self._left:
                colours = pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)
                self._left = (
                    HEAD.pack(MAGIC, pixels.shape[1], pixels.shape[0]) + np.ascontiguousarray(colours).tobytes()
                )
            self._left = self._left[os.write(pipe, self._left) :]
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._gone = True
            self.closed = (
                self._ended() == 0
            )  # else it could not be opened, or was killed: clips are recorded all the same

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        self._gone = True
        if process.stdin is not None:
            try:
                process.stdin.close()  # it ends by itself then
            except OSError:
                pass
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ended(self) -> int | None:
        try:
            return self._process.wait(1.0) if self._process is not None else None
        except subprocess.TimeoutExpired:
            return None

    def _pipe(self) -> int:
        if self._process is None:
            command = [sys.executable, "-m", "rldebug.capture.window", self.title]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONSAFEPATH": "1"},  # what lies beside the program is not meant for it
                start_new_session=True,  # Ctrl-C is for the program
                bufsize=0,
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
        assert self._process.stdin is not None
        return self._process.stdin.fileno()


def can_show() -> bool:
    from rldebug.capture.rendering import has_display

    return has_display() and find_spec("pygame") is not None
