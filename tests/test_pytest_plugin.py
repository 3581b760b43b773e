"""The plugin, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_transplant import SOUND


@pytest.fixture
def run(tmp_path):
    Path("advantages.py").write_text(SOUND, encoding="utf-8")

    def call(*arguments):
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "pytest", "-p", "rldebug.pytest_plugin", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)

    return call


def test_it_writes_a_test_that_passes(run):
    done = run("--rldebug-write-test", "gae=advantages.py:compute_gae")
    assert done.returncode == 0, done.stderr
    assert "tests/test_components.py: test_gae_compute_gae verifies advantages.py:compute_gae as gae" in done.stdout
    done = run("-q", "tests/test_components.py")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_several_into_a_file_of_ones_own_with_what_arguments_are(run):
    wanted = [f"--rldebug-write-test=gae=advantages{way}:compute_gae" for way in (".py", "")]
    done = run(*wanted, "--rldebug-test-file", "mine/test_mine.py", "--rldebug-map", "reward=rewards")
    assert done.returncode == 0, done.stderr
    text = Path("mine/test_mine.py").read_text(encoding="utf-8")
    assert 'verify("gae", f"{Path(__file__).parent}/../advantages.py:compute_gae", map={"reward": "rewards"})' in text
    assert 'def test_gae_advantages_compute_gae():\n    verify("gae", "advantages:compute_gae"' in text
    assert text.count("from pathlib import Path") == text.count("import verify") == 1


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("gae", "expected COMPONENT=TARGET"), ("gae=advantages.py:compute", "did you mean compute_gae?")],
)
def test_what_cannot_be_written(run, wanted, said):
    done = run("--rldebug-write-test", wanted)
    assert done.returncode == 4
    assert said in done.stderr


def test_it_imports_nothing_heavy():
    code = "import sys, rldebug.pytest_plugin; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert not {"torch", "numpy", "pytest", "rich", "rldebug.verify"} & set(done.stdout.split())
