import json

import pytest

from rldebug.render.perfetto import write_trace
from tests.render.timed import timing


@pytest.fixture
def events(tmp_path):
    def written(made):
        write_trace(made, tmp_path / "trace.json")
        return json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]

    return written


def boxes(events, track):
    """Name, begin and length in microseconds since the first moment."""
    tid = next(each["tid"] for each in events if each["name"] == "thread_name" and each["args"]["name"] == track)
    found = [each for each in events if each["ph"] == "X" and each["tid"] == tid]
    return sorted((each["name"], each["ts"] - 3e6, each["dur"]) for each in found)


def test_parts_follow_each_other(events):
    assert boxes(events(timing()), "parts") == [
        ("backward", 4500.0, 1000.0),
        ("loss", 2000.0, 2500.0),
        ("other", 900_000.0, 2000.0),
        ("simulator", 0.0, 2000.0),
    ]


def test_what_two_samples_share_is_one_box(events):
    shown = boxes(events(timing()), "calls")
    assert [each for each in shown if each[0] in ("<module>", "Agent.update", "Linear.forward")] == [
        ("<module>", 0.0, 5500.0),
        ("<module>", 900_000.0, 2000.0),
        ("Agent.update", 2000.0, 3500.0),
        ("Linear.forward", 2000.0, 2500.0),
    ]
    assert [each[0] for each in shown].count("Agent.walk") == 3


def test_boxes_lie_within_each_other(events):
    """What overlaps without lying inside is thrown away by those who draw it."""
    moments = tuple((0.1 * each / 3, 0.1 / 3 + (each % 3) * 1e-4, each % 5) for each in range(300))
    shown = [each for each in events(timing(moments=moments)) if each["ph"] == "X"]
    assert len(shown) > 300
    for track in {each["tid"] for each in shown}:
        open_ = []
        for each in sorted((each for each in shown if each["tid"] == track), key=lambda x: (x["ts"], -x["dur"])):
            begin, end = round(1e3 * each["ts"]), round(1e3 * each["ts"]) + round(1e3 * each["dur"])
            while open_ and open_[-1] <= begin:
                open_.pop()
            assert not open_ or end <= open_[-1]
            open_.append(end)


def test_lines_of_the_user_are_shown_with_their_text(events):
    shown = boxes(events(timing()), "the user's own lines")
    assert ("train.py:7 loss = self.net(env.obs)", 2000.0, 2500.0) in shown


def test_what_happened(events):
    found = [(each["name"], each["ts"]) for each in events(timing()) if each["ph"] == "i"]
    assert found == [("step", 3_002_000.0), ("backward", 3_005_500.0)]


def test_counters_over_the_run(events):
    told = {}
    for each in events(timing()):
        if each["ph"] == "C":
            told.setdefault(each["name"], []).append((each["ts"], each["args"]))
    assert told["env steps/s"] == [(0.0, {"env steps/s": 100.0}), (5e6, {"env steps/s": 200.0})]
    assert told["updates/s"] == [(0.0, {"updates/s": 10.0}), (5e6, {"updates/s": 20.0})]
    assert told["parts, share of time"] == [(0.0, {"simulator": 0.5, "loss": 0.2})]
    assert told["host memory, MB"] == [(0.0, {"resident": 200.0}), (5e6, {"resident": 300.0})]
    assert told["cores in use"][0] == (0.0, {"program": 0.8, "its children": 0.0})
    assert told["GPU utilisation"] == [(5e6, {"share of time": 0.25})]
    assert told["GPU memory allocated, MB"] == [(5e6, {"allocated": 2.0})]
    assert "GPU temperature" not in told


def test_a_run_without_an_iteration(events):
    shown = events(timing(slices=(), moments=(), happened=(), windows=()))
    assert {each["ph"] for each in shown} == {"M"}
