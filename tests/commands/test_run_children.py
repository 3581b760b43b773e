"""rldebug run of a program that trains in processes of its own: they are watched, compared, and left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "run_programs" / "ranks.py"
ABOUT_RANKS = ("MPR350", "MPR351", "MPR352", "MPR353", "MPR354", "MPR355", "MPR356", "SEE355", "SEE356")


def python(*words):
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=given)


def run(*words):
    """What is said about ranks, the first cause first, and what the program printed."""
    said = python("-m", "rldebug", "run", "--json", "out.json", *words)
    report = json.loads(Path("out.json").read_text(encoding="utf-8"))
    return [each["code"] for each in report["findings"] if each["code"] in ABOUT_RANKS], said.stdout


def test_spawned_ranks_that_train_apart_are_found():
    found, _ = run(PROGRAM, "spawn", "not-written-back")
    assert found[0] == "MPR351"


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "code"), [("not-broadcast", "MPR350"), ("same-seed", "SEE355")])
def test_forked_ranks_are_compared(wrong, code):
    assert run(PROGRAM, "fork", wrong)[0] == [code]


@pytest.mark.slow
def test_healthy_ranks_are_left_alone():
    found, printed = run(PROGRAM, "fork")
    plain = python(PROGRAM, "fork")
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.count("rank") == 2
    assert printed == plain.stdout  # the weights of each, bit for bit
    assert not found


SERVED = PROGRAM.with_name("served.py")
ABOUT_ACTORS = ("DIS300", "MPR357")


@pytest.mark.parametrize(
    ("way", "wrong", "code"),
    [
        ("pipes", "forget-ends", "DIS300"),
        pytest.param("queue", "forget-ends", "DIS300", marks=pytest.mark.slow),
        ("queue", "stale-actors", "MPR357"),
    ],
)
def test_environments_in_processes_of_the_program_are_as_good_as_its_own(way, wrong, code):
    python("-m", "rldebug", "run", "--json", "out.json", SERVED, way, wrong)
    report = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert [each["code"] for each in report["findings"] if each["severity"] == "error"] == [code]


def test_they_stay_as_they_are():
    said = python("-m", "rldebug", "run", "--json", "out.json", SERVED, "pipes")
    report = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert not [each for each in report["findings"] if each["severity"] != "note"]
    assert report["program"]["targets"][0]["gamma"] == pytest.approx(0.9, abs=1e-4)
    assert said.stdout.splitlines()[0] == python(SERVED, "pipes").stdout.strip()  # the weights, bit for bit
