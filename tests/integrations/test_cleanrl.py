"""Scripts in the way of CleanRL, unmodified: what is seen of them, what users break in them, the logs they leave."""

import json
import os
import subprocess
import sys

import pytest

from tests.integrations import pages
from tests.integrations.written_out import judged, rldebug, written

pytest.importorskip("tensorboard", reason="scripts of CleanRL log to TensorBoard, which is not installed")

pytestmark = pytest.mark.integration


def test_the_commands_of_the_page_run_and_find_nothing(tmp_path):
    written("single_file_ppo", tmp_path / "cleanrl/ppo.py")
    commands = pages.block("cleanrl", "sh").splitlines()
    assert len(commands) == 2
    for command in commands:
        tool, *words = command.split()
        assert tool == "rldebug"
        if "runs/" in words[-1]:
            words[-1] = str(next((tmp_path / "runs").iterdir()))
        status, said = rldebug(tmp_path, *words)
        assert status == 0, said
        assert "nothing wrong found" in said


@pytest.mark.parametrize(
    ("change", "component"),
    [
        (("nextnonterminal = 1.0 - (next_done if last else dones[t + 1])", "nextnonterminal = 1.0"), "discounting"),
        (("torch.max(pg_loss1, pg_loss2)", "torch.min(pg_loss1, pg_loss2)"), "policy-loss"),
        (("value.flatten(), action, logprob\n", "value.flatten(), action, -logprob\n"), "policy-loss"),
    ],
    ids=["ends not masked", "the larger of the two surrogates", "sign of the stored log-probs"],
)
def test_a_line_that_a_user_broke_is_named(change, component, tmp_path):
    report = judged("single_file_ppo", tmp_path, change)
    assert report.suspects[0].component == component, report.findings


def test_its_tensorboard_tags_are_read(tmp_path):
    script = written("single_file_ppo", tmp_path / "ppo.py")
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, script.name, "--total-timesteps", "4096"], cwd=tmp_path, env=env, check=True)
    logs = next((tmp_path / "runs").iterdir())
    status, said = rldebug(tmp_path, "report", "--from-tensorboard", logs, "--json", "report.json")
    assert status == 0, said
    assert json.loads((tmp_path / "report.json").read_text())["checked"], "rules that read curves have run"
