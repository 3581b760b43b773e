import json

import pytest

from rldebug.render.speedscope import write_speedscope
from tests.render.timed import SLICES, timing


@pytest.fixture
def written(tmp_path):
    def write(made):
        write_speedscope(made, tmp_path / "run.speedscope.json")
        return json.loads((tmp_path / "run.speedscope.json").read_text(encoding="utf-8"))

    return write


def named(data, profile):
    frames = data["shared"]["frames"]
    return [[frames[each]["name"] for each in stack] for stack in profile["samples"]]


def test_every_thread_is_there_by_call_and_by_part(written):
    data = written(timing())
    names = [each["name"] for each in data["profiles"]]
    assert names == ["training, by call", "training, by part", "thread 1, by call", "thread 1, by part"]
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    for profile in data["profiles"]:
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "seconds", 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"])
    assert [each["endValue"] for each in data["profiles"]] == [10.0, 10.0, 0.25, 0.25]


def test_stacks_are_outermost_first_and_parts_before_them(written):
    data = written(timing())
    calls, parts = data["profiles"][:2]
    step = ["<module> · train.py:15", "Env.step"]
    assert calls["weights"][named(data, calls).index(step)] == 4.0
    assert parts["weights"][named(data, parts).index(["simulator", *step])] == 4.0


def test_lines_of_the_user_are_apart_and_those_of_libraries_together(written):
    data = written(timing())
    frames = data["shared"]["frames"]
    assert [each for each in frames if each["name"] == "Linear.forward"] == [
        {"name": "Linear.forward", "file": "/venv/linear.py"}
    ]
    assert {each["line"] for each in frames if each["name"].startswith("Agent.update")} == {7, 8}
    assert len(frames) == len({json.dumps(each) for each in frames})


def test_alike_stacks_lie_side_by_side(written):
    data = written(timing(slices=(SLICES[1], SLICES[0], SLICES[2])))
    assert data["profiles"][0]["weights"] == [2.0, 0.5, 4.0]


def test_a_run_without_samples(written):
    data = written(timing(slices=(), moments=()))
    assert data["profiles"] == []
