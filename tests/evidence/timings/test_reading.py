"""From what was recorded to a Timing: recordings written by hand."""

import json
from pathlib import Path

import pytest

from rldebug.evidence.source import parsed
from rldebug.evidence.timing import Measured
from rldebug.evidence.timings.reading import TimingError, read_timing, write_yardstick

TEXT = "env.step(0)\nnet(obs)\nloss.backward()\nhelper()\n"
FILE = str(Path("train.py").absolute())
SITE = "/venv/lib/python3.11/site-packages/"
SPOTS = [
    [FILE, "<module>", 1, "user", 1, 0, 11, ""],
    [SITE + "gymnasium/core.py", "Wrapper.step", 5, "wrapper", 5, 0, 0, "wrapper"],
    [FILE, "<module>", 4, "user", 4, 0, 8, ""],
    [FILE, "<module>", 2, "user", 2, 0, 8, ""],
    [SITE + "torch/nn/modules/module.py", "Module._call_impl", 9, "module", 9, 0, 0, "module"],
]
STACKS = [
    {"spots": [0, 1], "inside": True, "ours": False, "rows": 0},
    {"spots": [2], "inside": False, "ours": False, "rows": 0},
    {"spots": [0], "inside": True, "ours": True, "rows": 0},
    {"spots": [3, 4], "inside": False, "ours": False, "rows": 8},
]
WRAPPER, HELPER, OURS, NETWORK = range(4)


def cell(stack, seconds, before="step", after="step", env=0, samples=None):
    return [stack, before, after, env, True, "", seconds, samples or max(1, round(seconds * 500))]


def thread(*cells, events=10):
    return {"events": events, "cells": list(cells)}


def env(**facts):
    return {"name": "CartPole-v1", "lanes": 1, "first_update": 0, "steps": 10, "calls": 10, "episodes": 1, **facts}


def recording(*cells, **other):
    """Ten seconds, of which one is the start."""
    return {
        "format": 1,
        "began": 0.0,
        "first": 1.0,
        "end": 11.0,
        "own": 0.0,
        "way": "timer",
        "interval": 0.002,
        "env_steps": 100,
        "updates": 10,
        "phases": 2,
        "spots": SPOTS,
        "stacks": STACKS,
        "threads": {"0": thread(*(cells or (cell(WRAPPER, 6.0), cell(HELPER, 4.0))))},
        "windows": [],
        "environments": [env()],
        "moments": [],
        "happened": [],
        "broken": {},
        **other,
    }


def read(told, folder=None, sources=None):
    folder = folder or Path()
    (folder / "timing.json").write_text(json.dumps(told))
    return read_timing(folder, [parsed(TEXT, FILE)] if sources is None else sources)


# ── seconds ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_samples_add_up_to_the_wall_clock():
    """They are off by chance."""
    timing = read(recording(cell(WRAPPER, 6.6), cell(HELPER, 2.2)))
    assert timing.seconds == pytest.approx(10.0)
    assert timing.parts == {"wrappers": pytest.approx(7.5), "other": pytest.approx(2.5)}
    assert [each.samples for each in timing.slices] == [3300, 1100]


def test_too_few_samples_are_left_as_they_are():
    timing = read(recording(cell(WRAPPER, 0.002)))
    assert timing.seconds == pytest.approx(0.002)


def test_the_start_is_left_out():
    timing = read(recording(cell(HELPER, 1.0, "start"), cell(WRAPPER, 10.0)))
    assert [each.before for each in timing.slices] == ["step"]
    assert timing.start_up == pytest.approx(1.0)
    assert timing.seconds == pytest.approx(10.0)


def test_what_is_ours_is_in_no_slice():
    timing = read(recording(cell(WRAPPER, 8.0), cell(OURS, 2.0)))
    assert timing.own == pytest.approx(2.0)
    assert timing.seconds == pytest.approx(8.0)
    assert timing.parts == {"wrappers": pytest.approx(8.0)}


def test_counts_and_the_rest_are_told_as_they_are():
    timing = read(recording())
    assert (timing.env_steps, timing.updates, timing.phases, timing.interval) == (100, 10, 2, 0.002)
    assert timing.problems == ()


# ── threads ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_thread_that_trains_is_the_one_in_which_it_happens():
    quiet, busy = thread(cell(HELPER, 10.0, "start", "end"), events=0), thread(cell(WRAPPER, 10.0), events=500)
    timing = read(recording(threads={"0": quiet, "1": busy}))
    assert {each.part: each.thread for each in timing.slices} == {"wrappers": 0, "other": 2}
    assert timing.parts == {"wrappers": pytest.approx(10.0)}


def test_one_reset_in_the_main_thread_does_not_make_it_the_one():
    few, busy = thread(cell(HELPER, 10.0, "start", "end"), events=2), thread(cell(WRAPPER, 10.0), events=500)
    assert read(recording(threads={"0": few, "1": busy})).parts == {"wrappers": pytest.approx(10.0)}
    most, some = thread(cell(HELPER, 10.0), events=100), thread(cell(WRAPPER, 9.0), events=300)
    assert read(recording(threads={"0": most, "1": some})).parts == {"other": pytest.approx(10.0)}


def test_other_threads_are_kept_apart_and_not_counted():
    timing = read(recording(threads={"0": thread(cell(WRAPPER, 10.0)), "1": thread(cell(HELPER, 9.0), events=0)}))
    assert timing.seconds == pytest.approx(10.0)
    assert [each.thread for each in timing.slices] == [0, 1]


# ── windows, environments, moments ──────────────────────────────────────────────────────────────────────────────────


def window(began, seconds, cells, **facts):
    return {"began": began, "seconds": seconds, "env_steps": 5, "updates": 1, "cells": cells, **facts}


def test_windows_have_parts_of_their_own():
    windows = [
        window(0.0, 0.9, []),  # before the training
        window(0.9, 2.0, [[0, 1.5], [1, 0.3]], resident=7, cpu=1.0, allocated=None, phases=1, unknown="x"),
        window(2.9, 2.0, [[1, 2.0], [2, 0.4]]),
    ]
    timing = read(recording(cell(WRAPPER, 6.0), cell(HELPER, 4.0), cell(OURS, 0.1), windows=windows))
    assert [each.began for each in timing.windows] == [
        pytest.approx(0.0),
        pytest.approx(1.9),
    ]  # what lies before the first step does not count
    assert [dict(each.parts) for each in timing.windows] == [{"wrappers": 1.5, "other": 0.3}, {"other": 2.0}]
    first, _ = timing.windows
    assert (first.resident, first.cpu, first.allocated, first.env_steps) == (7, 1.0, None, 5)


@pytest.mark.parametrize(
    ("environments", "evaluation"),
    [
        ([env(last=10.0)], [False]),
        ([env(last=10.0), env(first_update=3, first=2.0, last=9.0)], [False, True]),
        ([env(last=5.0), env(first_update=3, first=5.5, last=9.0)], [False, False]),  # where the first has ended
        ([env(last=10.0), env(last=9.0)], [False, False]),
        ([env(first_update=3, last=9.0)], [False]),  # learned from something else before
        ([env(steps=0), env(first_update=2, last=3.0)], [False, False]),  # one that was only reset
    ],
)
def test_environments_that_nothing_is_learned_from(environments, evaluation):
    timing = read(recording(environments=environments))
    assert [each.evaluation for each in timing.environments] == evaluation


def test_an_environment_is_told_as_it_is():
    made = env(workers=2, spec="A-v0", render_mode="human", created=["train.py", 3], last=2.0)
    (found,) = read(recording(environments=[made])).environments
    assert (found.created, found.workers, found.spec, found.render_mode) == (("train.py", 3), 2, "A-v0", "human")


def test_moments_point_at_slices():
    moments = [[2.0, 0.1, WRAPPER, "step"], [2.1, 0.1, OURS, "step"], [2.2, 0.3, HELPER, "step"], [3, 1, HELPER, "no"]]
    timing = read(
        recording(
            cell(WRAPPER, 1.0, after="backward"),
            cell(WRAPPER, 5.0),
            cell(HELPER, 4.0),
            moments=moments,
            happened=[[2.05, "step"]],
        )
    )
    assert timing.moments == ((2.0, 0.1, 1), (2.2, 0.3, 2))  # of two slices, the one with more of the time
    assert timing.happened == ((2.05, "step"),)


def test_rows_of_networks_are_those_that_most_time_goes_into():
    net = {"name": "net", "shapes": [[4, 2], [2]], "dtype": "float32", "device": "cpu", "optimizer": "Adam"}
    timing = read(recording(cell(NETWORK, 4.0), cell(NETWORK, 6.0, after="backward"), networks=[net]))
    (found,) = timing.networks
    assert (found.parameters, found.acting_rows, found.training_rows) == (10, 8, 8)


def test_what_others_have_found_out():
    spot = dict(zip(("file", "function", "line", "kind"), (FILE, "f", 3, "user"), strict=True))
    timing = read(
        recording(
            host={"cores": 4, "late": ["OMP_NUM_THREADS"], "of_the_future": 1},
            syncs=[{"spot": spot, "times": 3, "per_update": 1.5, "what": ".item"}],
            held=[{"name": "memory", "at": [1.0, 2.0], "items": [1, 2], "bytes": [8, 16]}],
            kept=[{"spot": spot, "bytes": 5, "tensors": 1}],
            kernels={"launches": 10.0},
        )
    )
    assert (timing.host.cores, timing.host.late) == (4, ("OMP_NUM_THREADS",))
    assert (timing.syncs[0].what, timing.syncs[0].spot.line) == (".item", 3)
    assert (timing.held[0].items, timing.held[0].at) == ((1, 2), (0.0, 1.0))  # since the first step, as of windows
    assert (timing.kept[0].bytes, timing.kernels) == (5, {"launches": 10.0})


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_files_are_named_as_one_would_type_them(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(FILE).parent)
    timing = read(recording(environments=[env(created=[FILE, 3])]), tmp_path)
    assert timing.slices[1].user.file == "train.py"
    assert timing.environments[0].created == ("train.py", 3)
    assert [each.file for each in timing.sources] == ["train.py"]
    assert timing.slices[1].called == "helper"
    assert timing.slices[0].stack[1].file.startswith(SITE)  # a library's stays as it is


def test_a_program_from_elsewhere_keeps_its_path():
    timing = read(recording())
    assert timing.slices[1].user.file == FILE
    assert timing.slices[1].called == "helper"  # its text is found all the same


def test_sources_of_the_run_are_read_where_none_are_given():
    read(recording())
    assert read_timing(Path()).sources == ()


@pytest.mark.parametrize(
    "change",
    [
        {"spots": SPOTS[:1]},  # cut
        {"stacks": STACKS[:1]},
        {"threads": {}},
        {"threads": []},
        {"threads": {"0": {"events": 1, "cells": [[0, "step"]]}}},
        {"environments": [{"name": "x"}]},
        {"environments": None},
        {"spots": [[1, 2]]},
        {"spots": [[FILE, "f", 1, "user", 1, 0, 0, "", "more than is known"]]},
        {"networks": [{"name": "x", "colour": "red", "shapes": []}]},
        {"windows": [{"began": 1.0}]},
        {"end": "late"},
        {"host": []},
        {"held": [3]},
    ],
)
def test_one_that_is_damaged_is_said_to_be(change):
    with pytest.raises(TimingError, match=r"timing\.json is damaged: \w+Error: ."):
        read({**recording(), **change})


def test_one_of_a_newer_rldebug_and_one_that_was_cut_off(tmp_path):
    with pytest.raises(TimingError, match=r"timing\.json has format 2, expected 1"):
        read({**recording(), "format": 2})
    (tmp_path / "timing.json").write_text(json.dumps(recording())[:200])
    with pytest.raises(TimingError, match=r"timing\.json cannot be read: "):
        read_timing(tmp_path)
    (tmp_path / "timing.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TimingError, match=r"timing\.json cannot be read: "):
        read_timing(tmp_path)


def test_what_went_wrong_while_it_was_recorded_is_told():
    timing = read(recording(way="thread", broken={"capture/held": "Traceback\n  …\nKeyError: 'x'\n"}))
    sampled, held = timing.problems
    assert "a thread sampled instead" in sampled
    assert held == "capture/held failed: KeyError: 'x'"


# ── the yardstick ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_measured_is_read_again():
    measured = {
        "returns": Measured("returns", "rldebug.parts.returns.gae, 2048 × 1", 1e-5, 0.01, {"steps": 2048.0}),
        "acting": Measured("acting", "one row", 2e-5),
    }
    write_yardstick(Path(), measured)
    timing = read(recording())
    assert timing.yardstick == measured


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"returns": {"colour": 1}}', '{"returns": 3}'])
def test_a_yardstick_that_cannot_be_read_is_done_without(text):
    Path("yardstick.json").write_text(text)
    assert read(recording()).yardstick == {}


def test_what_the_sampler_took_is_taken_off_the_wall_clock():
    timing = read({**recording(cell(WRAPPER, 8.0), cell(OURS, 1.5)), "own": 0.5})
    assert timing.own == pytest.approx(2.0)
    assert timing.seconds == pytest.approx(8.0)
