import os
from pathlib import Path

import pytest

from rldebug.evidence.folder import find_run
from rldebug.evidence.run import RunError


def make(name, at):
    folder = Path(".rldebug/runs") / name
    folder.mkdir(parents=True)
    (folder / "run.json").touch()
    os.utime(folder / "run.json", (at, at))
    return folder


def test_a_path_comes_before_a_name():
    Path("twice").mkdir()
    named = make("twice", 1)
    assert find_run("twice") == Path("twice")
    assert find_run(str(named)) == named


def test_the_newest_is_the_one_written_to_last():
    make("first", 10)
    going = make("second", 5)
    (going / "readings.jsonl").touch()  # now
    assert find_run(None) == going


def test_other_folders_are_no_runs():
    (Path(".rldebug/runs") / "stray").mkdir(parents=True)
    with pytest.raises(RunError, match="no runs under"):
        find_run(None)


def test_names_are_listed_where_none_is_near():
    for i in range(9):
        make(f"run{i}", i)
    with pytest.raises(RunError, match=r"holds run8, run7, .* and 3 more"):
        find_run("zzz")
