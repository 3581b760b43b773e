import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from rldebug.rules.evaluation.own_import_fails import OwnImportFails
from tests.judge import quiet
from tests.rules.crashes import crashed, names


@pytest.fixture
def ran(monkeypatch):
    """Runs a file of a small project, as a script."""
    before = set(sys.modules)

    def run(script, files):
        for name, text in {**files}.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(Path(script).absolute().parent))
        return crashed(lambda: runpy.run_path(script, run_name="__main__"), env_steps=0, updates=0)

    yield run
    for name in set(sys.modules) - before:
        if name.split(".")[0] in ("agents", "one", "other", "queue"):
            del sys.modules[name]


def test_fires_when_the_module_lies_in_another_folder(ran):
    crash = ran("scripts/train.py", {"scripts/train.py": "import agents.ppo\n", "agents/ppo.py": "x = 1\n"})
    finding = names(OwnImportFails(), crash)
    assert "agents is your own, and lies in another folder" in finding.message
    assert "it is agents: begin the program from ." in finding.help


def test_fires_when_two_files_import_one_another(ran):
    files = {
        "train.py": "import one\n",
        "one.py": "from other import b\na = 1\n",
        "other.py": "from one import a\nb = 1\n",
    }
    finding = names(OwnImportFails(), ran("train.py", files))
    assert "one is imported while it is itself being imported" in finding.message
    assert finding.where.file == str(Path("other.py").absolute())


def test_fires_when_a_part_of_a_package_is_run_as_a_script(ran):
    finding = names(OwnImportFails(), ran("agents/train.py", {"agents/train.py": "from .net import Net\n"}))
    assert "relative import" in finding.message


def test_fires_when_a_name_is_not_in_the_file(ran):
    files = {"train.py": "from one import Agent\n", "one.py": "class Agnet: pass\n"}
    finding = names(OwnImportFails(), ran("train.py", files))
    assert "one.py has no Agent" in finding.message


def test_fires_when_a_file_hides_a_library(ran, monkeypatch):
    monkeypatch.delitem(sys.modules, "queue", raising=False)
    files = {"train.py": "import queue\nqueue.Queue()\n", "queue.py": "waiting = []\n"}
    finding = names(OwnImportFails(), ran("train.py", files))
    assert "queue.py hides the library queue" in finding.message


def test_quiet_when_a_package_is_missing(ran):
    quiet(OwnImportFails(), ran("train.py", {"train.py": "import no_such_package\n"}))


def test_quiet_when_a_library_has_no_such_name():
    quiet(OwnImportFails(), crashed(lambda: np.bool8))
    quiet(OwnImportFails(), crashed(lambda: np.zeros(3).no_such_thing))
