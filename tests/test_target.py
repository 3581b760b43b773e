import sys
from pathlib import Path

import pytest

from rldebug.target import TargetError, is_target, load


@pytest.fixture
def written(monkeypatch):
    """Writes a file; what it was imported as is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def write(name, text):
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    yield write
    for each in set(sys.modules) - before:
        del sys.modules[each]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a.b:c", True), ("x/y.py:make", True), ("m:C.make", True), ("CartPole-v1", False), ("m:", False), (":c", False)],
    ids=["module", "file", "dotted", "id", "no name", "no place"],
)
def test_what_looks_like_a_target(text, expected):
    assert is_target(text) is expected


def test_from_a_file_with_what_lies_beside_it(written):
    written("deep/beside_it.py", "NUMBER = 7\n")
    written("deep/agent_file.py", "from beside_it import NUMBER\nclass A:\n    make = staticmethod(lambda: NUMBER)\n")
    assert load("deep/agent_file.py:A.make")() == 7


def test_from_a_module_in_the_folder_one_stands_in(written):
    written("some_package/__init__.py", "")
    written("some_package/some_agent.py", "def make(): return 'made'\n")
    assert load("some_package.some_agent:make")() == "made"


def test_one_that_parses_options_as_it_is_imported_is_given_none_of_ours(written, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["rldebug", "verify", "gae"])
    written("parses.py", "import argparse\nARGS = argparse.ArgumentParser().parse_args()\ndef make(): ...\n")
    assert load("parses.py:make")
    assert sys.argv == ["rldebug", "verify", "gae"]


def test_a_file_is_imported_once(written):
    written("counted.py", "THING = object()\n")
    assert load("counted.py:THING") is load("counted.py:THING")


@pytest.mark.parametrize(
    ("target", "text", "expected"),
    [
        ("nothing.py:make", "", "nothing.py: no such file"),
        ("nowhere.at_all:make", "", "no module called nowhere.at_all"),
        ("broken_one.py:make", "import not_there_xyz\n", "not_there_xyz"),
        ("broken_two.py:make", "def f(:\n", r"SyntaxError.*broken_two.py:1"),
        ("broken_three.py:make", "x = 1\nraise ValueError('no\\nway')\n", r"ValueError: no way \(broken_three.py:2\)"),
        ("leaving.py:make", "import sys\nsys.exit(3)\n", "leaving.py could not be imported: SystemExit: 3"),
        ("misspelt.py:make_agnt", "def make_agent(): ...\n", "has no make_agnt; did you mean make_agent"),
        ("make_agent", "", "names nothing"),
    ],
    ids=["file", "module", "import", "syntax", "raises", "exits", "name", "no colon"],
)
def test_what_cannot_be_had_is_said(written, target, text, expected):
    if text:
        written(target.rpartition(":")[0], text)
    with pytest.raises(TargetError, match=expected):
        load(target)


def test_a_script_that_runs_when_it_is_imported_is_said_to(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("rldebug.target.PATIENCE", 0.01)
    (tmp_path / "trains_at_once.py").write_text("import time\ntime.sleep(0.5)\ndef gae(): return 1\n", encoding="utf-8")
    assert load(f"{tmp_path / 'trains_at_once.py'}:gae")() == 1
    assert "trains_at_once.py is being imported, and runs" in capfd.readouterr().err
