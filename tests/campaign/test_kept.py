"""A campaign that was stopped goes on: what is known is not done again."""

import json
from pathlib import Path

import pytest

from rldebug.campaign.kept import Kept, complete, part_of
from rldebug.campaign.task import Failed
from rldebug.target import TargetError
from tests.campaign.work import Number, squared

TASKS = [Number(each) for each in (1, 2, 3)]


def one_by_one(work, tasks):
    for each in tasks:
        yield each, work(each, False)


def stopped_after(count):
    def spread(work, tasks):
        for place, each in enumerate(tasks):
            if place == count:
                raise KeyboardInterrupt
            yield each, work(each, False)

    return spread


def test_a_stopped_campaign_goes_on_with_what_is_left(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        complete(TASKS, squared, stopped_after(2), Kept(tmp_path))
    (file,) = tmp_path.glob("*.jsonl")
    with file.open("a") as torn:
        torn.write('{"key": "number 3", "resu')  # killed while it wrote
    asked = []

    def spread(work, tasks):
        asked.extend(tasks)
        return one_by_one(work, tasks)

    found = complete(TASKS, squared, spread, Kept(tmp_path))
    assert [each.value for each in asked] == [3]
    assert found == {f"number {each}": {"squared": each**2} for each in (1, 2, 3)}
    assert Kept(tmp_path).known == found  # the line after the torn one is whole


def test_what_failed_is_told_and_tried_again(tmp_path):
    def failing(work, tasks):
        yield from ((each, Failed("no memory")) for each in tasks)

    assert complete(TASKS[:1], squared, failing, Kept(tmp_path)) == {"number 1": Failed("no memory")}
    assert complete(TASKS[:1], squared, one_by_one, Kept(tmp_path)) == {"number 1": {"squared": 1}}


def test_results_of_several_machines_lie_side_by_side(tmp_path):
    for host, value in (("one", 1), ("two", 2)):
        line = {"key": f"number {value}", "result": {"squared": value**2}}
        Path(tmp_path, f"{host}-7.jsonl").write_text(json.dumps(line) + "\n")
    assert set(Kept(tmp_path).known) == {"number 1", "number 2"}


def test_what_is_forgotten_is_asked_anew(tmp_path):
    complete(TASKS, squared, one_by_one, Kept(tmp_path))
    Kept(tmp_path).forget(each.key for each in TASKS)
    assert Kept(tmp_path).known == {}


def test_parts_are_all_of_it_and_none_twice():
    numbers = [Number(each) for each in range(10)]
    parts = [part_of(numbers, f"{each}/3") for each in range(3)]
    assert sorted(each.value for part in parts for each in part) == list(range(10))
    assert part_of(numbers, None) == numbers


@pytest.mark.parametrize("part", ["3/3", "1", "a/b", "-1/2", "0/0"])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(TargetError, match="expected K/N"):
        part_of([Number(1)], part)


def test_a_file_is_no_folder_of_results(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match="expected a folder"):
        Kept(tmp_path / "file")
