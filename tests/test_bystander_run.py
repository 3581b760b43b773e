"""`rldebug run` changes nothing: every base of the zoo, and Stable-Baselines3, with and without it."""

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "bench" / "bugs" / "corpus"
PROGRAM = ROOT / "tests" / "bystander_program.py"
SERVER = ROOT / "tests" / "bystander_server.py"
MARK = "== bystander "
BASES = sorted(each.parent.name for each in CORPUS.glob("*/base.toml"))
STEPS = 60
SB3 = ("ppo", "dqn", "sac", "td3")
# Every phase is audited as far as 100 % allow: the hooks of audits are those that could do harm.
OPTIONS = ("--overhead-budget", "1.0", "--record-only")


@pytest.fixture(scope="module")
def python():
    """Runs a job: see bystander_server.py."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100"}
    for name in ("RANK", "WORLD_SIZE"):
        env.pop(name, None)
    server = subprocess.Popen(
        [sys.executable, str(SERVER)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(folder, *words):
        folder.mkdir()
        server.stdin.write(json.dumps([str(folder), [str(each) for each in words]]) + "\n")
        server.stdin.flush()
        status = server.stdout.readline()
        return status, (folder / "stdout").read_text(), (folder / "stderr").read_text()

    yield run
    server.stdin.close()
    server.wait(30)


def told(ran):
    """What the program printed, and what it came to; and each of the processes it started."""
    status, out, err = ran
    lines = out.splitlines()
    digests = sorted(line.removeprefix(MARK) for line in lines if line.startswith(MARK))
    assert digests, f"ended with {status}\n{out[-2000:]}\n{err[-4000:]}"
    return [line for line in lines if not line.startswith(MARK)], [json.loads(each) for each in digests]


def compare(python, program, folder):
    """With and without, the same; and with it, it was watched: else that would prove nothing."""
    runs = folder / "runs"
    printed, bare = told(python(folder / "bare", PROGRAM, *program))
    ran = python(folder / "watched", "-m", "rldebug", "run", *OPTIONS, "--folder", runs, PROGRAM, *program)
    printed_watched, watched = told(ran)
    assert len(bare) == len(watched)
    for expected, found in zip(bare, watched, strict=True):
        # What is held by whoever watches may be there in addition, and nothing may be missing.
        for name in ("generators", "modules"):
            missing = Counter(expected.pop(name)) - Counter(found.pop(name))
            assert not missing, f"{name} that are not as they were: {dict(missing)}"
        assert found == expected
    assert printed_watched == printed
    run = next(runs.iterdir())
    broken = json.loads((run / "run.json").read_text()).get("broken")
    assert not broken, broken
    if any(each["steps"] for each in watched):
        assert list((run / "audits").glob("*.npz")), ran[2][-2000:]


@pytest.mark.parametrize("base", BASES)
def test_every_base_of_the_zoo_is_left_alone(base, python, tmp_path):
    told = tomllib.loads((CORPUS / base / "base.toml").read_text())
    for name in told.get("needs", []):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    args = [each.format(seed=1) for each in told.get("args", [])]
    compare(python, [STEPS, CORPUS / base / told["entry"], *args], tmp_path)
