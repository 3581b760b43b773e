"""The window is a process of its own, with frames on its stdin."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rldebug.capture.viewer import HEAD, MAGIC
from rldebug.capture.window import newest

FRAME = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
BYTES = HEAD.pack(MAGIC, 6, 4) + FRAME.tobytes()


def test_of_what_has_come_the_newest_whole_frame():
    assert newest(b"") == (None, b"")
    assert newest(BYTES[:-1]) == (None, BYTES[:-1])
    other = HEAD.pack(MAGIC, 6, 4) + bytes(72)
    assert newest(BYTES + other + BYTES[:9]) == ((6, 4, bytes(72)), BYTES[:9])
    with pytest.raises(ValueError, match="expected frames"):
        newest(b"something else that is long enough")


def test_the_window_needs_no_torch():
    code = "import sys, rldebug.capture.window; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
