import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rldebug.render import exported
from tests.commands.conftest import SOUND, write_run
from tests.render.test_tensorboard import read_back


def test_a_run_goes_to_a_folder_of_its_name(rldebug, sick):
    said = rldebug("export", "sick", "--tensorboard", "tb")
    assert said.status == 0, said.err
    assert said.out == "63 readings: tensorboard --logdir tb/sick\n"
    found = read_back("tb/sick")
    assert len(found.Scalars("charts/episodic_return")) == 63
    assert b"warning ENT001" in found.Tensors("rldebug/diagnosis")[0].tensor_proto.string_val[0]


def test_the_tags_of_stable_baselines(rldebug, sound):
    assert rldebug("export", "sound", "--tensorboard", "tb", "--tags", "sb3").status == 0
    tags = read_back("tb/sound").Tags()["scalars"]
    assert "rollout/ep_rew_mean" in tags
    assert "charts/episodic_return" not in tags


def test_a_run_that_has_ended_can_be_followed_too(rldebug):
    write_run(Path(".rldebug/runs/over"), SOUND, state="finished")
    assert rldebug("export", "over", "--tensorboard", "tb", "--follow").status == 0
    assert len(read_back("tb/over").Scalars("episode/return_mean")) == 63


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), "expected where to write to: --tensorboard DIR, --wandb PROJECT or --mlflow EXPERIMENT"),
        (("--tensorboard", "tb", "--tags", "keras"), "--tags is 'keras', expected cleanrl or sb3"),
        (("--tensorboard", "file"), "file/sound: Not a directory"),
    ],
)
def test_what_cannot_be_done_is_said(rldebug, sound, given, expected):
    Path("file").touch()
    said = rldebug("export", "sound", *given)
    assert (said.status, said.err) == (2, f"rldebug: {expected}\n")


def test_a_run_that_is_not_there(rldebug, sound):
    said = rldebug("export", "sond", "--tensorboard", "tb")
    assert said.status == 2
    assert "did you mean sound?" in said.err


def test_a_run_without_readings(rldebug):
    write_run(Path(".rldebug/runs/empty"), {})
    (Path(".rldebug/runs/empty") / "readings.jsonl").write_text("", encoding="utf-8")
    said = rldebug("export", "empty", "--tensorboard", "tb")
    assert said.status == 2
    assert "holds no readings: readings.jsonl is empty" in said.err
    assert not Path("tb").exists()


@pytest.mark.parametrize("package", ["tensorboard", "wandb", "mlflow"])
def test_a_package_that_is_missing(rldebug, sound, monkeypatch, package):
    monkeypatch.setattr(exported, "find_spec", lambda name: None)
    said = rldebug("export", "sound", f"--{package}", "somewhere")
    assert said.status == 2
    assert said.err == f"rldebug: {package} is not installed: pip install 'rldebug[{package}]'\n"


def test_ctrl_c_while_following(sound):
    write_run(Path("goes-on"), SOUND, state="running", pid=os.getpid())
    code = "import sys; from rldebug.commands import main\ntry: main()\nfinally: assert 'torch' not in sys.modules"
    command = [sys.executable, "-c", code, "export", "goes-on", "--tensorboard", "tb", "--follow"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(each.stat().st_size > 1000 for each in Path("tb").glob("*/*")):
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, "")
    assert out == "63 readings: tensorboard --logdir tb/goes-on\n"
    assert len(read_back("tb/goes-on").Scalars("episode/return_mean")) == 63
