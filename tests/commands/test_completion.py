"""`rldebug completion`: its scripts, run by the shells themselves, and what they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug import catalogue
from rldebug.commands import completion
from tests.commands.conftest import SOUND, write_run


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A command called rldebug, wherever these tests run."""
    command = tmp_path / "bin" / "rldebug"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rldebug "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def in_bash(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    quoted = " ".join(f"'{each}'" for each in words)
    script = (
        f"source <(rldebug completion bash); COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        '_rldebug_completion rldebug; printf "%s\\n" "${COMPREPLY[@]}"; complete -p rldebug >&2'
    )
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "-F _rldebug_completion rldebug" in done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("rldebug", "ex"), ["explain", "export"]),
        (("rldebug", "lint", "--s"), ["--select", "--sarif"]),
        (("rldebug", "explain", "ADV00"), [f"ADV00{number}" for number in (1, 2, 3)]),
        (("rldebug", "lint", "--ignore", "advantage-sign-f"), ["advantage-sign-flipped"]),
        (("rldebug", "run", "--select", "entropy-coll"), ["entropy-collapse"]),
        (("rldebug", "completion", ""), ["bash", "zsh", "fish"]),
    ],
    ids=lambda each: each[-1] if isinstance(each, tuple) else "",
)
def test_bash_completes(beside, words, offered):
    said = in_bash(*words)
    assert said[: len(offered)] == offered
    assert all(each.startswith(words[-1]) for each in said)


def test_bash_completes_runs(beside):
    for name in ("ppo", "ppo-2", "dqn"):
        write_run(Path(".rldebug/runs", name), SOUND)
    os.utime(".rldebug/runs/ppo", (1, 1))
    assert in_bash("rldebug", "report", "pp") == ["ppo-2", "ppo"]
    assert set(in_bash("rldebug", "diff", "ppo", "")) == {"ppo", "ppo-2", "dqn"}


def test_after_a_program_its_own_arguments_are_left_to_the_shell(beside):
    assert in_bash("rldebug", "run", "train.py", "--") == []
    assert "--html" in in_bash("rldebug", "run", "--h")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_of_their_own(rldebug, shell):
    said = rldebug("completion", shell)
    assert said.status == 0
    assert f"_RLDEBUG_COMPLETE=complete_{shell}" in said.out
    if shutil.which(shell):
        Path("script").write_text(said.out, encoding="utf-8")
        subprocess.run([shell, "-n", "script"], check=True, timeout=30)


@pytest.mark.parametrize(
    ("shell", "action", "told"),
    [
        ("zsh", "", ["_arguments", '"explain":"Print the page of a finding']),
        ("fish", "get-args", ["explain\tPrint the page of a finding", "export\tWrite a recorded run"]),
    ],
)
def test_what_they_are_answered(shell, action, told):
    asked = {"_RLDEBUG_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "rldebug ex", "COLUMNS": "200"}
    environment = {
        **os.environ,
        **asked,
        "_TYPER_COMPLETE_FISH_ACTION": action,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    call = "import sys; from rldebug.commands import main; sys.argv = ['rldebug']; main()"
    done = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, timeout=60)
    for each in told:
        assert each in done.stdout, done.stdout + done.stderr


def test_an_unknown_shell(rldebug):
    said = rldebug("completion", "tcsh")
    assert said.status == 2
    assert said.err == "rldebug: 'tcsh' is not a shell that is known here: expected bash, zsh, fish\n"


def test_what_is_read_from_the_text_is_the_catalogue():
    """Names are found without importing anything; so each must be there, and no other."""
    rules = [rule for rule in catalogue.rules() if rule.__module__.startswith("rldebug.")]
    codes = {code for first in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for code in completion.rules(first)}
    assert codes == {rule.code for rule in rules}
    names = {rule.name for rule in rules}
    assert set(completion.rules("")) == names
    pages = {each.name for each in catalogue.metrics() if "…" not in each.name} | {
        each.name for each in catalogue.probes()
    }
    assert set(completion.entries("")) == names | pages


def test_it_imports_nothing_heavy():
    code = (
        "import sys\nfrom rldebug.commands import completion\ncompletion.entries('e')\n"
        "assert not {'torch', 'numpy', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
