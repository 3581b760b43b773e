"""rldebug sweep: bands of healthy references, kept as they are done."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.campaign.task import Failed

WORDS = ("sweep", "vpg", "--env", "CartPole-v1", "--seeds", 3, "--steps", 100)


@pytest.fixture
def asked(monkeypatch):
    """Tasks that were done, in this process and without training: the return is 100 and the seed."""
    done = []

    def spreading(jobs, ray):
        def spread(work, tasks):
            for each in tasks:
                if each.seed == 7:
                    raise KeyboardInterrupt
                done.append(each.seed)
                told = {"return": 100.0 + each.seed, "while_training": 90.0, "random": 22.0, "seconds": 1.0}
                yield each, Failed("its process died") if each.seed == 6 else told

        return spread

    monkeypatch.setattr("rldebug.integrations.ray.spreading", spreading)
    return done


def test_a_table_and_json(rldebug, asked):
    said = rldebug(*WORDS, "--json", "bands.json")
    assert said.status == 0, said.err
    assert "vpg" in said.out
    assert "101.0" in said.out
    assert "98.5 … 103.5" in said.out
    (band,) = json.loads(Path("bands.json").read_text(encoding="utf-8"))["bands"]
    assert band["returns"] == [100.0, 101.0, 102.0]
    assert (band["lowest"], band["highest"], band["random"]) == (100.0, 102.0, 22.0)


def test_what_is_known_is_not_done_again(rldebug, asked):
    rldebug(*WORDS, "--part", "1/3")
    assert asked == [1]
    said = rldebug(*WORDS, "--json", "-")
    assert asked == [1, 0, 2]
    assert json.loads(said.out)["bands"][0]["returns"] == [100.0, 101.0, 102.0]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(rldebug, asked):
    said = rldebug(*WORDS, "--seed", 4, "--seeds", 5)
    assert said.status == 130
    assert "stopped; 2 of 5 runs are kept in .rldebug/sweep: the same command goes on" in said.err


def test_a_failed_task_is_told_and_the_others_make_the_band(rldebug, asked):
    said = rldebug(*WORDS, "--seed", 4)
    assert said.status == 1
    assert "failed: vpg CartPole-v1 seed 6: its process died" in said.err
    assert "104.5" in said.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sweep", "vpg"), "on which environment"),
        (("sweep", "nonsense", "--env", "CartPole-v1"), "no algorithm called nonsense"),
        (("sweep", "vpg", "--env", "CartPole-v1", "--set", "learning=1"), "no setting 'learning'"),
        (("sweep", "vpg", "--env", "CartPole-v1", "--part", "4/4"), "expected K/N"),
        (("sweep", "--env", "Nonsense-v9"), "Nonsense"),
    ],
)
def test_what_cannot_be_run_is_said(rldebug, asked, words, expected):
    said = rldebug(*words)
    assert said.status == 2
    assert expected in said.err
    assert not asked


@pytest.mark.integration
def test_in_processes_of_their_own_stopped_by_ctrl_c_and_taken_up_again():
    words = [sys.executable, "-m", "rldebug", *map(str, WORDS[:4]), "--seeds", "3", "--steps", "400", "--jobs", "1"]
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=given)
    assert first.stderr.readline().startswith("[1/3] vpg CartPole-v1 seed 0: return ")
    first.send_signal(signal.SIGINT)
    said = first.communicate(timeout=60)[1]
    assert first.returncode == 130
    assert "of 3 runs are kept in .rldebug/sweep: the same command goes on" in said
    again = subprocess.run([*words, "--json", "-"], capture_output=True, text=True, env=given, timeout=200)
    assert again.returncode == 0, again.stderr
    assert "/3]" not in again.stderr
    assert len(json.loads(again.stdout)["bands"][0]["returns"]) == 3
