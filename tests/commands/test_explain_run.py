"""rldebug run, of a program that ends with an error: it is explained below the traceback, and once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import torch
net = torch.nn.Linear(3, 2)
if "hook" in sys.argv:
    sys.excepthook = lambda kind, error, trace: print("mine:", kind.__name__, file=sys.stderr)

def act(obs):
    return net(obs)

if "explain" in sys.argv:
    import rldebug
    act = rldebug.explain()(act)
act(torch.zeros(2, 4))
"""


def run(*words, before=("-m", "rldebug", "run")):
    Path("train.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, *before, *words]
    given = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=given)


def test_the_note_stands_below_the_traceback_and_the_report_has_a_line():
    said = run("--json", "out.json", "--html", "page.html", "train.py", "explain")
    assert said.returncode == 1
    trace, _, rest = said.stderr.partition("\n\nrldebug: error[PRE401] ")
    assert trace.splitlines()[0] == "Traceback (most recent call last):"
    assert trace.splitlines()[-1].startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4 and 3x2)")
    note, _, report = rest.partition("\n\n")
    assert "  where     train.py:9   return net(obs)\n" in note
    assert "  help      " in note
    lines = [line for line in report.splitlines() if "[PRE401]" in line]
    assert len(lines) == 1
    assert lines[0].startswith("error[PRE401]: ")
    assert "help:" not in report
    assert said.stderr.count("\nrldebug: ") == 1  # the program has explained it, and rldebug run has not again
    (finding,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["findings"]
    assert finding["code"] == "PRE401"
    assert finding["help"]
    assert finding["where"]["line"] == 9
    assert finding["help"].split(":")[0] in Path("page.html").read_text(encoding="utf-8")


def test_where_the_program_shows_errors_itself_the_report_tells_all():
    said = run("train.py", "hook")
    assert said.returncode == 1
    assert said.stderr.startswith("mine: RuntimeError\n")
    assert "  help: " in said.stderr
    assert "rldebug: error" not in said.stderr


def test_nothing_is_explained_where_only_recording_was_asked_for():
    said = run("--record-only", "train.py")
    assert said.returncode == 1
    assert said.stderr.startswith(run("train.py", before=()).stderr.splitlines()[0])
    assert "error[" not in said.stderr
    crash = json.loads(Path(".rldebug/runs/train/run.json").read_text(encoding="utf-8"))["crash"]
    assert crash["frames"][1]["facts"]["obs"]["shape"] == [2, 4]
