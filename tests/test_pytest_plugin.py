"""The plugin, in a pytest of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_transplant import SOUND

TRAINS = """
import pytest
from tests.test_attach import Learner
"""


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
    """pytest is there already whenever this is loaded."""
    code = "import sys, rldebug.pytest_plugin; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert not {"torch", "numpy", "rich", "rldebug.verify", "rldebug.attach"} & set(done.stdout.split())


# ── tests that are watched ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Done:
    text: str

    def ended(self, **counts: int) -> None:
        """`passed=2`: this, and nothing else."""
        last = self.text.rstrip().splitlines()[-1]
        assert {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last)} == counts, (
            self.text
        )

    def has(self, *lines: str) -> None:
        """These lines, in this order; * stands for anything."""
        rest = iter(self.text.splitlines())
        for each in lines:
            pattern = re.compile(".*".join(map(re.escape, each.split("*"))))
            assert any(pattern.fullmatch(line) for line in rest), f"no line {each!r} in\n{self.text}"


@pytest.fixture
def tests(capsys, request):
    """Runs a file of tests, with the plugin, in this process: torch is loaded already."""

    def call(text: str, *arguments: str) -> Done:
        file = Path("test_training.py")
        file.write_text(TRAINS + text, encoding="utf-8")
        sys.modules.pop(file.stem, None)  # of the test before
        own = () if request.config.pluginmanager.has_plugin("rldebug") else ("-p", "rldebug.pytest_plugin")
        pytest.main(
            ["-q", "--import-mode=importlib", "--rootdir=.", "-p", "no:cacheprovider", *own, *arguments, str(file)]
        )
        return Done(capsys.readouterr().out)

    return call


def test_a_marked_test_fails_with_what_is_found(tests):
    done = tests(
        """
@pytest.mark.rldebug
def test_learns():
    Learner(sign=1.0).learn()
"""
    )
    done.ended(failed=1)
    done.has(
        "rldebug: what turned out better is made less likely (POL340)",
        "error[POL340]: *better-made-less-likely",
        "*test_attach.py:*",
        "    = seen *",
        "  help: turn the sign of the policy loss, or of the advantage",
        "page: rldebug report .rldebug/tests/*-test_learns --html report.html",
        "FAILED *::test_learns - *what turned out bett*",
    )
    (run,) = Path(".rldebug/tests").iterdir()
    assert (run / "run.json").exists()


def test_a_sound_one_passes_and_so_does_one_in_which_nothing_trains(tests):
    done = tests(
        """
@pytest.mark.rldebug(fail_on="warning")
def test_learns():
    Learner().learn()

@pytest.mark.rldebug
def test_else():
    assert True
"""
    )
    done.ended(passed=2)
    assert [each.name[-11:] for each in Path(".rldebug/tests").iterdir()] == ["test_learns"]


def test_what_is_ignored_or_not_asked_for_fails_nothing(tests):
    done = tests(
        """
@pytest.mark.rldebug(ignore=["better-made-less-likely"], select=["POL340", "ADV003"])
def test_ignored():
    Learner(sign=1.0).learn()

@pytest.mark.rldebug(fail_on=None)
class TestAll:
    def test_looked_at(self, rldebug_run):
        Learner(sign=1.0).learn()
        assert [each.code for each in rldebug_run.report().roots] == ["POL340"]
"""
    )
    done.ended(passed=2)


def test_the_fixture_sees_what_other_fixtures_train_and_fails_by_itself(tests):
    done = tests(
        """
@pytest.fixture
def trained():
    return Learner(sign=1.0).learn()

def test_learns(rldebug_run, trained):
    assert rldebug_run.updates == 12
"""
    )
    done.ended(failed=1)
    done.has("rldebug: what turned out better is made less likely (POL340)")


def test_the_fixture_must_be_named_and_a_test_case_may_be_marked(tests):
    done = tests(
        """
import unittest

def test_late(request):
    request.getfixturevalue("rldebug_run")

@pytest.mark.rldebug
class TestOld(unittest.TestCase):
    def test_learns(self):
        Learner(sign=1.0).learn()
"""
    )
    done.ended(failed=2)
    done.has("rldebug_run watches from the set-up of a test on: name it among its arguments")
    done.has("rldebug: what turned out better is made less likely (POL340)")


def test_a_failure_of_its_own_stays_on_top_and_what_was_found_is_told_below(tests):
    done = tests(
        """
@pytest.mark.rldebug
def test_learns():
    Learner(sign=1.0).learn()
    assert 1 + 1 == 3
"""
    )
    done.ended(failed=1)
    done.has("E *assert (1 + 1) == 3", "*- rldebug -*", "error[POL340]*", "FAILED *assert (1 + 1) == 3")


def test_expected_failures_are_failures_by_a_finding_too(tests):
    done = tests(
        """
@pytest.mark.xfail(strict=True)
@pytest.mark.rldebug
def test_learns():
    Learner(sign=1.0).learn()
"""
    )
    done.ended(xfailed=1)


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ('(fail_on="warnings")', "fail_on is 'warnings', expected 'error', 'warning', 'note' or None"),
        ('("warning")', "takes its arguments by name: fail_on=, select= and ignore="),
        ('(failon="warning")', "knows no failon=: expected fail_on=, select= or ignore="),
        ('(ignore="ADV003")', "ignore is 'ADV003', expected a list of codes or names of rules"),
        ('(ignore=["entropy-colapse"])', "ignore: no rule called 'entropy-colapse'; did you mean entropy-collapse"),
    ],
)
def test_a_mark_that_cannot_be_understood(tests, mark, said):
    done = tests(f"@pytest.mark.rldebug{mark}\ndef test_it(): pass\n")
    done.ended(error=1)
    assert f"@pytest.mark.rldebug {said}" in done.text or f"@pytest.mark.rldebug: {said}" in done.text
    assert "Traceback" not in done.text


ALL = """
def test_sound():
    Learner().learn()

def test_broken():
    Learner(sign=1.0).learn()

def test_else():
    pass
"""
SECTION = [
    "*= rldebug =*",
    "*::test_broken",
    "  error[POL340]: what turned out better is made less likely  (*test_attach.py:* · update 0)",
    "  more: rldebug report .rldebug/tests/*-test_broken",
    "3 watched: 2 trained, 1 of them with findings",
]


def test_with_the_option_every_test_that_trains_is_watched_and_none_fails(tests):
    done = tests(ALL, "--rldebug")
    done.ended(passed=3)
    done.has(*SECTION)


def test_nothing_is_watched_unless_asked_for(tests):
    done = tests(ALL)
    done.ended(passed=3)
    assert "rldebug" not in done.text
    assert not Path(".rldebug").exists()


@pytest.mark.integration
def test_with_xdist_the_findings_come_home():
    Path("test_training.py").write_text(TRAINS + ALL, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--rootdir=.", "--rldebug"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    said = Done(done.stdout)
    said.ended(passed=3)
    said.has(*SECTION)
