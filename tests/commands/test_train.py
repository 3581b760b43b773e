import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SMALL = ("--env", "CartPole-v1", "--set", "envs=2", "--set", "steps=16", "--set", "epochs=1", "--set", "minibatch=16")
FOLDER = Path(".rldebug/train/ppo-CartPole-v1-0")


def test_it_trains_and_says_what_it_reached(rldebug):
    said = rldebug("train", "ppo", *SMALL, "--steps", "64", "--episodes", "2", "--json", "out.json")
    assert said.status == 0, said.err
    for text in ("trained for 64 steps", "evaluated", "random policy:", f"kept in {FOLDER}"):
        assert text in said.err
    summary = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (summary["steps"], summary["seed"], len(summary["greedy"])) == (64, 0, 2)
    assert summary["random"]["episodes"] == 20
    assert torch.load(FOLDER / "checkpoint.pt", weights_only=True)["steps_done"] == 64


def test_quiet_prints_nothing_and_stdout_is_for_json(rldebug):
    said = rldebug("train", "ppo", *SMALL, "--steps", "32", "--episodes", "1", "--quiet", "--json", "-")
    assert said.err == ""
    assert json.loads(said.out)["algorithm"] == "ppo"


def test_a_second_run_does_not_overwrite_the_first_and_can_be_resumed_further(rldebug):
    for _ in range(2):
        rldebug("train", "ppo", *SMALL, "--steps", "32", "--episodes", "1", "--quiet")
    again = FOLDER.with_name(f"{FOLDER.name}-2")
    assert again.is_dir()
    said = rldebug("train", "ppo", "--resume", str(again), "--steps", "96", "--episodes", "1", "--quiet")
    assert said.status == 0, said.err
    assert torch.load(again / "checkpoint.pt", weights_only=True)["steps_done"] == 96
    assert torch.load(FOLDER / "checkpoint.pt", weights_only=True)["steps_done"] == 32


def test_settings_from_a_file_and_from_the_command_line(rldebug):
    Path("mine.toml").write_text("lr = 0.5\ngamma = 0.5\n", encoding="utf-8")
    rldebug("train", "ppo", *SMALL, "--steps", "1", "--config", "mine.toml", "--set", "lr=0.25", "--quiet")
    settings = torch.load(FOLDER / "checkpoint.pt", weights_only=True)["settings"]
    assert (settings["lr"], settings["gamma"], settings["envs"]) == (0.25, 0.5, 2)


def test_what_is_known_to_work_is_used(rldebug):
    rldebug("train", "ppo", "--env", "CartPole-v1", "--steps", "1", "--episodes", "1", "--quiet")
    from rldebug.train import presets

    settings = torch.load(FOLDER / "checkpoint.pt", weights_only=True)["settings"]
    known = presets("ppo")["CartPole-v1"]
    assert {name: settings[name] for name in known} == known


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["pp0", "--env", "CartPole-v1"], "no algorithm called pp0: expected one of a2c"),
        (["ppo"], "which environment?"),
        (["ppo", "--env", "CartPol-v1"], "Did you mean: 'CartPole'"),
        (["ppo", "--env", "CartPole-v1", "--set", "gama=1"], "no setting 'gama': did you mean gamma"),
        (["ppo", "--env", "CartPole-v1", "--set", "gamma"], "--set gamma: expected NAME=VALUE"),
        (["ppo", "--env", "CartPole-v1", "--env-arg", "mass=3"], "unexpected keyword argument 'mass'"),
        (["ppo", "--env", "CartPole-v1", "--steps", "0"], "steps is 0, expected at least 1"),
        (["ppo", "--env", "CartPole-v1", "--config", "none.toml"], "none.toml"),
        (["ppo", "--env", "CartPole-v1", "--frames", "10"], "expected images"),
        (["ppo", "--env", "CartPole-v1", "--device", "tpu9"], "tpu9"),
        (["ppo", "--resume", "nowhere"], "nowhere is not a folder"),
    ],
    ids=["algorithm", "no env", "env", "setting", "pair", "env arg", "steps", "config", "frames", "device", "resume"],
)
def test_it_could_not_run(rldebug, arguments, text):
    said = rldebug("train", *arguments)
    assert said.status == 2
    assert text in said.err
    assert "bug in rldebug" not in said.err


def test_ctrl_c_saves_and_the_run_can_go_on():
    """As from a terminal: the process is sent what Ctrl-C sends, once it has begun."""
    command = [sys.executable, "-m", "rldebug", "train", "ppo", *SMALL, "--steps", "10000000", "--episodes", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        running.stderr.readline()  # where it is kept
        first = running.stderr.readline()
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
    assert "iteration" in first
    assert running.returncode == 130, rest
    assert "stopping after this iteration" in rest
    assert f"go on with: rldebug train ppo --resume {FOLDER}" in rest
    state = torch.load(FOLDER / "checkpoint.pt", weights_only=True)
    assert state["steps_done"] >= 32
    lines = (FOLDER / "progress.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == state["iteration"]
