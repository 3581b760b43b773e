import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.evidence.crash import crash_from_text, crashes_from_text
from rldebug.rules.evaluation.program_does_not_parse import ProgramDoesNotParse
from tests.judge import quiet
from tests.rules.crashes import crashed, names


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A file of the user's own, to be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "users_own.py"
    sys.modules.pop("users_own", None)


def imported():
    importlib.invalidate_caches()
    return importlib.import_module("users_own")


@pytest.mark.parametrize(
    ("text", "line", "help"),
    [
        ("x = 1\ndef f(:\n    pass\n", 2, "a bracket, a quote, a colon"),
        ("x = (1,\ny = 2\n", 1, ""),
        ("def f():\nreturn 1\n", 2, "indent the line"),
        ("x = 1\n<<<<<<< HEAD\nx = 2\n", 2, "finish the merge"),
        ("!pip install torch\n", 1, "notebook"),
    ],
)
def test_fires_on_a_file_of_the_user(module, text, line, help):
    module.write_text(text, encoding="utf-8")
    finding = names(ProgramDoesNotParse(), crashed(imported, env_steps=0, updates=0))
    assert (finding.where.file, finding.where.line) == (str(module), line)
    assert help in finding.help


def test_fires_on_the_text_that_python_prints():
    Path("train.py").write_text("import os\ndef f(:\n", encoding="utf-8")
    said = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False).stderr
    assert crash_from_text(said) is None  # there is no first line of a traceback
    assert names(ProgramDoesNotParse(), crashes_from_text(said)[0]).where.line == 2


def test_quiet_when_a_library_was_asked_to_parse_a_text():
    quiet(ProgramDoesNotParse(), crashed(lambda: compile("x = (", "<string>", "exec")))
    quiet(ProgramDoesNotParse(), crashed(lambda: {}["obs"]))
