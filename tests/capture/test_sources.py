"""The text of a program is kept as it was when it ran: its script, and what it imports from beside it."""

import importlib.util
import json
import os
import sys
import time
from types import ModuleType

import pytest

from rldebug.capture.sources import SourceKeeper


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A script, a module beside it, and one that lies elsewhere."""
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in (home, other):
        folder.mkdir()
    (home / "train.py").write_text("import nets\n", encoding="utf-8")
    (home / "nets.py").write_text("width = 3\n", encoding="utf-8")
    (other / "elsewhere.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.chdir(home)
    main = ModuleType("__main__")
    main.__file__ = "train.py"
    monkeypatch.setitem(sys.modules, "__main__", main)
    for file in (home / "nets.py", other / "elsewhere.py"):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, file.stem, module)
    return home


def _kept(folder):
    lines = (folder / "sources.jsonl").read_text(encoding="utf-8").splitlines()
    return [(os.path.basename(told["file"]), told["text"]) for told in map(json.loads, lines)]


def test_the_script_and_its_own_modules_are_kept_once(program, tmp_path):
    keeper = SourceKeeper(tmp_path, time.time() + 1)
    keeper.keep()
    keeper.keep()
    assert _kept(tmp_path) == [("train.py", "import nets\n"), ("nets.py", "width = 3\n")]


def test_what_was_changed_since_it_began_is_not_what_ran(program, tmp_path):
    began = time.time() + 1
    os.utime(program / "nets.py", (began + 5, began + 5))
    SourceKeeper(tmp_path, began).keep()
    assert [name for name, _ in _kept(tmp_path)] == ["train.py"]


def test_a_file_that_is_gone_is_passed_over(program, tmp_path):
    (program / "nets.py").unlink()
    SourceKeeper(tmp_path, time.time() + 1).keep()
    assert [name for name, _ in _kept(tmp_path)] == ["train.py"]
