import json
import os
import re
import signal
import subprocess
import sys

import pytest
import typer

from rldebug.commands import application
from tests.benchmark import tiny


@pytest.fixture
def corpus(tmp_path):
    return str(tiny.write(tmp_path))


def rldebug(*words):
    return subprocess.run(
        [sys.executable, "-m", "rldebug", "bench", *words], capture_output=True, text=True, timeout=300
    )


def test_measuring_then_asking_prints_a_table_and_draws_the_matrix(corpus, tmp_path):
    measured = rldebug("--corpus", corpus, "--measure")
    assert measured.returncode == 0, measured.stderr
    assert "never-learns" in measured.stdout
    assert "broken" in measured.stdout
    listed = rldebug("--corpus", corpus, "--list")
    assert "3 bugs (1 crash, 1 broken, 1 masked) in 1 programs on 1 environments" in " ".join(listed.stdout.split())
    assert "not measured" not in listed.stdout
    found = rldebug("--corpus", corpus, "--means", "verify", "--json", "v.json", "--matrix", "m.svg", "--bars")
    assert found.returncode == 0, found.stderr  # the targets are those of all means together
    assert "validation half: 3 bugs, 5 healthy controls" in found.stdout
    (row,) = [each.split() for each in found.stdout.splitlines() if each.strip().startswith("verify ")]
    assert row[:4] == ["verify", "3", "33", "%"]
    assert "quick: never-learns, raises" in found.stdout
    verdicts = {each["case"]: each for each in json.loads((tmp_path / "v.json").read_text())["verify"]}
    assert verdicts["quick/gae-leaks"]["first"]
    assert not verdicts["quick/healthy@1"]["detected"]
    assert "<svg" in (tmp_path / "m.svg").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--corpus", "nowhere"], "nowhere: no such folder; expected a corpus of programs"),
        (["slow"], "no case in .* is called slow"),
        (["--means", "guess"], "no means is called guess: expected env, lint, probe"),
        (["--tool", "other"], "no tool is called other: expected rldebug"),
        (["--half", "development"], "no program is left"),
        (["--json", "no/where.json"], "there is no folder no"),
        (["--half", "third"], "half is 'third', expected development or validation"),
    ],
)
def test_what_cannot_be_run_says_why(corpus, words, said):
    words = words if "--corpus" in words else ["--corpus", corpus, *words]
    found = rldebug(*words)
    assert found.returncode == 2
    assert re.search(said, found.stderr), found.stderr


SLOW = """
import json, pathlib, sys, time
if "score = 30.0" not in pathlib.Path("train.py").read_text():
    time.sleep(120)
pathlib.Path(sys.argv[2]).write_text(json.dumps({"findings": [], "not_applicable": ""}))
"""


def test_ctrl_c_keeps_what_is_answered_and_says_so(corpus, tmp_path):
    peers = tmp_path / "zoo" / "peers"
    peers.mkdir()
    (peers / "slow.py").write_text(SLOW)
    words = [sys.executable, "-m", "rldebug", "bench", "--corpus", corpus, "--tool", "slow"]
    words += ["quick/healthy@1", "quick/never-learns"]  # the first sleeps, the second does not
    running = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    first = running.stderr.readline()
    assert first.startswith("[1/2] quick/never-learns"), first
    os.killpg(running.pid, signal.SIGINT)
    try:
        _, rest = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130, rest
    assert "stopped; 1 of 2 answers are kept in .rldebug/bench/zoo.jsonl" in rest
    assert len((tmp_path / ".rldebug" / "bench" / "zoo.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "address"),
    [
        (["--ray"], "local"),
        (["--ray", "--jobs", "2"], "local"),
        (["--ray", "auto", "--list"], "auto"),
        (["--list"], None),
    ],
)
def test_ray_may_come_without_an_address(words, address):
    command = next(each for each in typer.main.get_group(application()).commands.values() if each.name == "bench")
    with command.make_context("bench", list(words)) as context:
        assert context.params["ray"] == address
