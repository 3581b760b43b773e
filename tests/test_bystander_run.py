"""`rldebug run` changes nothing: every base of the zoo, and Stable-Baselines3, with and without it."""

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "bench" / "bugs" / "corpus"
PROGRAM = ROOT / "tests" / "bystander_program.py"
MARK = "== bystander "
BASES = sorted(each.parent.name for each in CORPUS.glob("*/base.toml"))
STEPS = 40
SB3 = ("ppo", "dqn", "sac", "td3")
# Every phase is audited as far as 100 % allow: the hooks of audits are those that could do harm.
OPTIONS = ("--overhead-budget", "1.0", "--record-only")


def told(command, folder):
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100"}
    for name in ("RANK", "WORLD_SIZE"):
        env.pop(name, None)
    folder.mkdir()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    printed, mark, last = done.stdout.partition(MARK)
    assert mark, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return printed, json.loads(last.splitlines()[0]), done


def compared(program, folder):
    """The run folder, after both have been run and compared."""
    runs = folder / "runs"
    bare = [sys.executable, str(PROGRAM), *program]
    watched = [sys.executable, "-m", "rldebug", "run", *OPTIONS, "--folder", str(runs), str(PROGRAM), *program]
    printed, expected, _ = told(bare, folder / "bare")
    printed_watched, found, done = told(watched, folder / "watched")
    # What is held by whoever watches may be there in addition, and nothing may be missing.
    for name in ("generators", "modules"):
        missing = Counter(expected.pop(name)) - Counter(found.pop(name))
        assert not missing, f"{name} that are not as they were: {dict(missing)}"
    assert found == expected
    assert printed_watched == printed
    return next(runs.iterdir()), done


def check_watched(run, done):
    """Both being equal proves nothing where nothing was watched."""
    assert len(list((run / "audits").glob("*.npz"))) >= 2, done.stderr[-2000:]
    broken = json.loads((run / "run.json").read_text()).get("broken")
    assert not broken, broken


@pytest.mark.parametrize("base", BASES)
def test_every_base_of_the_zoo_is_left_alone(base, tmp_path):
    told = tomllib.loads((CORPUS / base / "base.toml").read_text())
    for name in told.get("needs", []):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    args = [each.format(seed=1) for each in told["args"]]
    run, done = compared([str(STEPS), str(CORPUS / base / told["entry"]), *args], tmp_path)
    check_watched(run, done)
