"""The tutorial breaks one line of a program and finds it again: its commands, on fewer steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "ppo.py"


def test_the_tutorial_breaks_one_line_and_finds_it_again(rldebug):
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    right, wrong = "next_value * alive - value[t]", "next_value - value[t]"
    assert wrong in page
    text = PROGRAM.read_text(encoding="utf-8")
    Path("ppo.py").write_text(text, encoding="utf-8")
    Path("broken.py").write_text(text.replace(right, wrong), encoding="utf-8")
    for name in ("ppo", "broken"):
        run = [sys.executable, "-m", "rldebug", "run", "--json", f"{name}.json", f"{name}.py", "--steps", "6000"]
        subprocess.run(run, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    sound, broken = (json.loads(Path(f"{name}.json").read_text()) for name in ("ppo", "broken"))
    assert [each["code"] for each in sound["findings"] if each["severity"] != "note"] == []
    (found,) = [each for each in broken["findings"] if each["severity"] == "error" and not each["follows"]]
    assert found["code"] == "DIS300"
    assert f"error[{found['code']}]: {found['message']}" in page
    assert rldebug("verify", "gae", "ppo.py:compute_gae").status == 0
    told = rldebug("verify", "gae", "broken.py:compute_gae")
    assert told.status == 1
    assert "error[ADV102]" in told.out
    assert "error[ADV102]" in page
    assert "target/mean" in rldebug("diff", "ppo", "broken").out
