"""A program of tests/run_programs, perhaps with one of its lines changed as a user might, under `rldebug run`."""

import os
import subprocess
import sys
from pathlib import Path

from rldebug.config import Config
from rldebug.recorded import examined

PROGRAMS = Path(__file__).parents[1] / "run_programs"


def written(program, into, change=None):
    text = (PROGRAMS / f"{program}.py").read_text()
    if change is not None:
        before, after = change
        assert text.count(before) == 1, f"{before!r} is not one line of {program}"
        text = text.replace(before, after)
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(text)
    return into


def rldebug(cwd, *words):
    """The exit status, and all that was printed."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "rldebug", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def judged(program, folder, change=None):
    """The report about the program. It takes the time it needs: no rule is left out for lack of it."""
    script = written(program, folder / "train.py", change)
    status, said = rldebug(folder, "run", "--record-only", script.name)
    assert status == 0, said
    return examined(folder / ".rldebug/runs/train", Config(), "report")[0]
