"""Where in the user's own code something happens: the innermost frame that is no library's."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import lru_cache
from types import FrameType

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(
    {
        os.path.abspath(sysconfig.get_path(each)) + os.sep
        for each in ("stdlib", "platstdlib", "purelib", "platlib")
        if sysconfig.get_path(each)
    }
)
_DEEP = 64


@lru_cache(maxsize=1 << 16)  # all modules are gone through in turn: with room for fewer, each would be asked anew
def is_users(file: str) -> bool:
    """Whether a file is the user's own: not rldebug's, not Python's, not an installed package's."""
    if not file or file[0] == "<":
        return file.startswith("<ipython")
    path = os.path.abspath(file)
    if path.startswith(_OURS) or f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path:
        return False
    return not path.startswith(_LIBRARIES)


def users_frame(skip: int = 1) -> FrameType | None:
    frame: FrameType | None = sys._getframe(skip)
    for _ in range(_DEEP):
        if frame is None:
            return None
        if is_users(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def users_line(skip: int = 1) -> tuple[str, int] | None:
    """File and line of the user's code that leads here; the file as seen from the working directory."""
    frame = users_frame(skip + 1)
    return None if frame is None else (shown(frame.f_code.co_filename), frame.f_lineno)


@lru_cache(maxsize=4096)
def shown(file: str) -> str:
    path, here = os.path.abspath(file), os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path
