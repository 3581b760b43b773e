"""A module is looked at when the program imports it: right after, with its own loader, and never instead of it."""

import importlib
import importlib.util
import sys

import pytest

from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

NAME = "a_module_to_be_imported"


@pytest.fixture
def switch(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{NAME}.py").write_text("value = 1\n")
    before = list(sys.meta_path)
    board = Switchboard()
    yield board
    board.undo()
    sys.modules.pop(NAME, None)
    assert sys.meta_path == before


def test_looked_at_after_it_was_executed(switch):
    seen = []
    when_imported(switch, "environments", NAME, lambda module: seen.append(module.value))
    assert importlib.util.find_spec(NAME) is not None  # asked for, not imported
    assert seen == []
    module = importlib.import_module(NAME)
    assert seen == [1]
    assert "exec_module" not in vars(module.__loader__)
    assert type(module.__loader__).__name__ == "SourceFileLoader"
    importlib.reload(module)
    assert seen == [1, 1]


def test_there_already(switch):
    importlib.import_module(NAME)
    seen = []
    when_imported(switch, "environments", NAME, seen.append)
    assert [each.__name__ for each in seen] == [NAME]


def test_two_who_wait(switch):
    seen = []
    when_imported(switch, "environments", NAME, lambda module: seen.append("one"))
    when_imported(switch, "environments", NAME, lambda module: seen.append("other"))
    importlib.import_module(NAME)
    assert sorted(seen) == ["one", "other"]


def test_errors(switch, tmp_path):
    when_imported(switch, "environments", NAME, lambda module: 1 / 0)
    assert importlib.import_module(NAME).value == 1
    assert "ZeroDivisionError" in switch.broken["capture/environments"]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("a_module_that_is_not_there")
