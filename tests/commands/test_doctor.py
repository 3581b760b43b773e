import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import rldebug.evidence.machines.look
from rldebug.render.json import schema
from tests.rules.machines import SOUND, examined, machine


@pytest.fixture
def on(monkeypatch):
    """The command looks at a machine that was made on purpose."""

    def plant(made):
        monkeypatch.setattr(rldebug.evidence.machines.look, "look", lambda workers, done: made)

    return plant


def test_a_sound_machine_exits_0_and_says_so(rldebug, on):
    on(SOUND)
    said = rldebug("doctor")
    assert said.status == 0
    assert "NVIDIA H200" in said.out
    assert said.out.splitlines()[-1].startswith("nothing wrong found · ")
    assert examined(SOUND).findings == ()


def test_what_is_wrong_is_named_and_exits_1(rldebug, on):
    on(machine(limits={"shm": 64 << 20}))
    said = rldebug("doctor")
    assert said.status == 1
    assert "warning[MPR700]" in said.out
    assert "--shm-size=2g" in said.out


def test_a_note_exits_0(rldebug, on):
    on(machine(variables={"KMP_DUPLICATE_LIB_OK": "TRUE"}))
    said = rldebug("doctor")
    assert said.status == 0
    assert "note[INS720]" in said.out


def test_json_keeps_the_contract_and_has_the_facts(rldebug, on):
    on(machine(limits={"shm": 64 << 20}))
    said = rldebug("doctor", "--json", "-")
    told = json.loads(said.out)
    jsonschema.validate(told, schema())
    assert (said.status, told["command"], told["exit"]) == (1, "doctor", 1)
    assert told["machine"]["torch"]["cuda"] == "13.0"
    assert [each["code"] for each in told["findings"]] == ["MPR700"]


def test_the_configuration_is_heard_as_far_as_it_is_about_machines(rldebug, on):
    Path("pyproject.toml").write_text(
        '[tool.rldebug]\nignore = ["few-open-files", "entropy-collapse"]\n'
        "[tool.rldebug.rules.shared-memory-small]\nleast = 32\n",
        encoding="utf-8",
    )
    on(machine(limits={"shm": 64 << 20, "files": 100}))
    assert rldebug("doctor").status == 0


def test_a_file_that_hides_a_module_does_not_stop_the_doctor():
    Path("random.py").write_text("raise SystemError('the wrong one')", encoding="utf-8")
    command = [sys.executable, "-m", "rldebug", "doctor", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "--workers" in done.stdout


def test_this_machine_is_looked_at(rldebug, monkeypatch):
    """Really: the trials run, and torch says what it says here."""
    import torch

    import rldebug.evidence.machines.look as module

    every = module.attempts
    monkeypatch.setattr(
        module, "attempts", lambda installed: [each for each in every(installed) if each.name == "torch"]
    )
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    Path("queue.py").write_text("raise SystemError('the wrong one')", encoding="utf-8")
    said = rldebug("doctor", "--json", "told.json", "--workers", "1")
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["machine"]
    assert told["torch"]["version"] == torch.__version__
    assert told["torch"]["numpy"] == ""
    assert {"torch", "numpy", "gymnasium"} <= {each["name"] for each in told["packages"]}
    assert told["hiding"] == ["queue.py"]
    assert said.status == 1
    assert "queue.py in this folder hides the module of that name" in said.out
