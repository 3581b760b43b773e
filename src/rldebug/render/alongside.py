"""A writer for a viewer beside a program that trains: another process, that follows the run folder.

It is no child of the program, whose own `os.wait()` must not come upon it, and has a session of its own: Ctrl-C is for
the program. The two agree by a file: the program makes it when all is recorded, the writer removes it when all is
written.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

_PATIENCE = 10.0  # seconds, at the end
_LOG = "tensorboard.log"  # what the writer has to say, in the run folder; nothing, if all is well
_DETACH = f"""
import subprocess, sys
with open({_LOG!r}, "wb") as said:
    nothing = subprocess.DEVNULL
    subprocess.Popen(sys.argv[1:], stdin=nothing, stdout=nothing, stderr=said, start_new_session=True)
"""


class TensorBoardAlongside:
    """Started with the run; ended after its diagnosis."""

    def __init__(self, run: Path, folder: Path) -> None:
        run = run.absolute()
        self._said, self._end = run / _LOG, run / "tensorboard.end"
        export = ["export", str(run), "--tensorboard", str(folder.absolute()), "--follow", "--until", str(self._end)]
        writer = [sys.executable, "-c", "from rldebug.commands import main; main()", *export]
        subprocess.run(
            [sys.executable, "-S", "-c", _DETACH, *writer],
            cwd=run,  # where no module of the user's hides one of ours
            stdin=subprocess.DEVNULL,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def end(self) -> str | None:
        """Have the rest written. What went wrong, in words."""
        if not self._said.is_file():
            return "the run folder is gone"
        self._end.touch()
        deadline = time.monotonic() + _PATIENCE
        while self._end.exists() and not self._words() and time.monotonic() < deadline:
            time.sleep(0.02)
        late = self._end.exists()
        self._end.unlink(missing_ok=True)
        words = self._words()
        if words:
            return words.splitlines()[-1].removeprefix("rldebug: ")
        self._said.unlink(missing_ok=True)
        return "the writer did not end in time: what it wrote last may be missing" if late else None

    def _words(self) -> str:
        try:
            return self._said.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""
