import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.evidence.run import Reading, encode, read_run
from rldebug.render import alongside
from rldebug.render.alongside import TensorBoardAlongside
from tests.apart import apart
from tests.render.test_exported import FINDING
from tests.render.test_tensorboard import read_back


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "lights"
    folder.mkdir(parents=True)
    meta = {"format": 1, "name": "lights", "state": "running", "pid": os.getpid()}
    (folder / "run.json").write_text(json.dumps(meta), encoding="utf-8")
    (folder / "readings.jsonl").write_text(line(0), encoding="utf-8")
    return folder


def line(step):
    return encode(Reading(step, step, float(step), {"policy/kl": 0.1})) + "\n"


def test_another_process_writes_what_is_recorded_until_it_is_told(run, tmp_path):
    (tmp_path / "tensorboard.py").write_text("raise RuntimeError('a module of the user')", encoding="utf-8")
    beside = TensorBoardAlongside(run, tmp_path / "tb")
    with (run / "readings.jsonl").open("a", encoding="utf-8") as file:
        file.write(line(1) + line(2))
    (run / "findings.jsonl").write_text(json.dumps(FINDING.to_dict()) + "\n", encoding="utf-8")
    before = sorted(each.name for each in run.iterdir() if each.suffix == ".jsonl")
    assert beside.end() is None
    found = read_back(tmp_path / "tb" / "lights")
    assert [each.step for each in found.Scalars("policy/kl")] == [0, 1, 2]
    assert b"NET003" in found.Tensors("rldebug/diagnosis")[0].tensor_proto.string_val[0]
    assert sorted(each.name for each in run.iterdir()) == sorted([*before, "run.json"])  # nothing is left behind


@apart  # other tests may have left children
def test_it_is_no_child_of_the_program(run, tmp_path):
    beside = TensorBoardAlongside(run, tmp_path / "tb")
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert beside.end() is None


def test_what_it_could_not_do_is_told(run, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    problem = TensorBoardAlongside(run, tmp_path / "file").end()
    assert "Not a directory" in problem
    assert not (run / "tensorboard.end").exists()


def test_a_run_folder_that_was_taken_away(run, tmp_path, monkeypatch):
    monkeypatch.setattr(alongside, "_PATIENCE", 0.1)
    beside = TensorBoardAlongside(run, tmp_path / "tb")
    shutil.rmtree(run)
    assert beside.end() == "the run folder is gone"


def test_a_loop_that_is_watched_by_hand(tmp_path):
    import rldebug

    with rldebug.watch(run="mine", tensorboard=tmp_path / "tb", quiet=True) as watched:
        for i in range(3):
            watched.update(loss={"policy": float(i)})
    assert watched.broken == {}
    found = read_back(tmp_path / "tb" / "mine")
    assert [each.value for each in found.Scalars("losses/policy_loss")] == [0.0, 1.0, 2.0]


def test_a_program_that_is_watched(tmp_path):
    program = Path(__file__).parents[1] / "run_programs" / "learner.py"
    command = [sys.executable, "-m", "rldebug", "run", "--record-only", "--tensorboard", "tb", str(program), "40"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "tensorboard: tensorboard --logdir tb\n" in done.stderr
    recorded = read_run(tmp_path / ".rldebug" / "runs" / "learner")
    found = read_back(tmp_path / "tb" / "learner")
    assert len(recorded["optimizer/lr"]) > 0
    assert len(found.Scalars("charts/learning_rate")) == len(recorded["optimizer/lr"])
