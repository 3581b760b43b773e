"""action.yml, as far as it can be run here: its shell steps, with what a runner would give them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {each.get("id", each["name"]): each for each in ACTION["runs"]["steps"]}
CLIPPED_LATE = """
import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    loss = net(torch.rand(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
"""


def filled(text: str, given: dict[str, str]) -> str:
    """With the inputs in place, as the runner puts them there."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | given

    def value(found: re.Match[str]) -> str:
        return inputs[found[1]] or ("" if found[2] is None else str(ROOT))

    return re.sub(r"\$\{\{ inputs\.([\w-]+)( \|\| github\.action_path)? \}\}", value, text)


@pytest.fixture
def step(tmp_path):
    """Runs the shell of a step; gives its exit status, what it said, its outputs and the summary."""
    command = tmp_path / "bin" / "rldebug"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rldebug "$@"\n', encoding="utf-8")
    command.chmod(0o755)

    def call(name: str, **given: str):
        one = STEPS[name]
        for file in ("outputs", "summary"):
            Path(file).write_text("", encoding="utf-8")
        environment = {
            **os.environ,
            **{key: filled(value, given) for key, value in one.get("env", {}).items()},
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "GITHUB_OUTPUT": "outputs",
            "GITHUB_STEP_SUMMARY": "summary",
        }
        # As GitHub's runner calls bash.
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", one["run"]]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=120)
        outputs = dict(line.split("=", 1) for line in Path("outputs").read_text(encoding="utf-8").splitlines())
        return done.returncode, done.stdout + done.stderr, outputs, Path("summary").read_text(encoding="utf-8")

    return call


def test_it_is_a_composite_action_whose_inputs_are_all_described_and_used():
    assert ACTION["runs"]["using"] == "composite"
    assert all(each["description"] and isinstance(each["default"], str) for each in ACTION["inputs"].values())
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text
    for each in ACTION["runs"]["steps"]:
        assert ("uses" in each) != ("run" in each)
        assert "shell" in each or "uses" in each
        assert "${{" not in each.get("run", "")  # an input in a script would be run as code


def test_lint_finds_tells_and_leaves_a_sarif_file(step):
    Path("train.py").write_text(CLIPPED_LATE, encoding="utf-8")
    status, said, outputs, summary = step("rldebug", paths="train.py")
    assert (status, outputs) == (0, {"status": "1"}), said
    assert "train.py:11" in summary
    assert '"version": "2.1.0"' in Path("rldebug.sarif").read_text(encoding="utf-8")
    assert not Path("rldebug.txt").exists()


@pytest.mark.parametrize(("fail_on", "status"), [("never", "0"), ("warning", "1")])
def test_which_findings_fail_is_chosen(step, fail_on, status):
    Path("train.py").write_text(CLIPPED_LATE, encoding="utf-8")
    assert step("rldebug", **{"fail-on": fail_on})[2] == {"status": status}


def test_a_clean_file_and_hostile_inputs(step):
    Path("fine.py").write_text("x = 1\n", encoding="utf-8")
    assert step("rldebug", paths="fine.py")[2] == {"status": "0"}
    _, said, outputs, _ = step("rldebug", paths="fine.py; touch owned $(touch owned)")
    assert outputs == {"status": "2"}, said
    assert not Path("owned").exists()


def test_run_watches_a_program_and_keeps_its_status(step):
    Path("ends.py").write_text("import sys\nprint('its own', *sys.argv[1:])\nsys.exit(7)\n", encoding="utf-8")
    status, said, outputs, _ = step("rldebug", command="run", program="ends.py --seed 1", options="--quiet")
    assert (status, outputs) == (0, {"status": "7"})
    assert "its own --seed 1" in said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"command": "fix"}, "command is 'fix', expected lint or run"),
        ({"fail-on": "note"}, "fail-on is 'note', expected warning, error or never"),
        ({"command": "run"}, "command: run needs a program"),
    ],
)
def test_what_cannot_be_understood(step, given, told):
    status, said, _, _ = step("rldebug", **given)
    assert status == 2
    assert f"::error::{told}" in said


def test_the_last_step_fails_as_rldebug_did():
    script = STEPS["Tell how it went"]["run"]
    assert subprocess.run(["bash", "-e", "-c", script], env={**os.environ, "STATUS": "3"}).returncode == 3


def test_by_default_it_installs_its_own_checkout():
    step = STEPS["Install rldebug"]
    assert filled(step["env"]["INSTALL"], {}) == str(ROOT)
    assert filled(step["env"]["INSTALL"], {"install": "rldebug==0.1.0"}) == "rldebug==0.1.0"


# ── the pre-commit hook ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_hook_runs_what_it_says():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    Path("train.py").write_text(CLIPPED_LATE, encoding="utf-8")
    program, *words = hook["entry"].split()
    assert program == "rldebug"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "rldebug", *words, "train.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "train.py:11" in done.stdout


@pytest.mark.integration
def test_pre_commit_takes_the_hook(tmp_path, monkeypatch):
    """With an environment that is there already: to install torch into one of pre-commit's own takes minutes."""
    pytest.importorskip("pre_commit", reason="runs the hook")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (hooks / ".pre-commit-hooks.yaml").write_text(
        text.replace("language: python", "language: system"), encoding="utf-8"
    )
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "train.py").write_text(CLIPPED_LATE, encoding="utf-8")
    (mine / "notes.txt").write_text("no Python\n", encoding="utf-8")
    for folder in (hooks, mine):
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
            subprocess.run(["git", *command], cwd=folder, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), "rldebug-lint", "--all-files"],
        cwd=mine,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "rldebug lint" in done.stdout
    assert "train.py:11" in done.stdout
    assert "notes.txt" not in done.stdout
