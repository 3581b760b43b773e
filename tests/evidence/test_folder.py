import os
from pathlib import Path

import pytest

from rldebug.evidence.folder import find_run, ranks
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


@pytest.mark.parametrize(
    ("started", "jobs"),
    [
        ({"a": 0.0, "b": None}, {"a": {}, "b": {}}),
        ({"a-rank2": 2.0, "a": 0.0, "a-rank1": 1.0}, {"a": {1: "a-rank1", 2: "a-rank2"}}),
        (
            {"a": 0.0, "a-rank1": 1.0, "a-2": 900.0, "a-rank1-2": 901.0},
            {"a": {1: "a-rank1"}, "a-2": {1: "a-rank1-2"}},
        ),
        ({"a": 0.0, "a-2": 5000.0, "a-rank1": 5001.0}, {"a": {}, "a-2": {1: "a-rank1"}}),  # the first was alone
        ({"a": 0.0, "a-rank1": 5000.0}, {"a": {}, "a-rank1": {}}),
        (dict.fromkeys(["a", "a-rank1", "a-2", "a-rank1-2"]), {"a": {1: "a-rank1"}, "a-2": {1: "a-rank1-2"}}),
        ({"a-rank1": 0.0}, {"a-rank1": {}}),
        ({"a-rankest": 0.0, "rank1": 0.0}, {"a-rankest": {}, "rank1": {}}),
    ],
)
def test_ranks_that_began_together_are_one_run(started, jobs):
    assert ranks(started) == jobs
