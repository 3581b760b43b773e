"""The stopwatch without its sampler: frames are handed to it, so that nothing depends on the clock."""

import json
import sys
import threading
from weakref import ref

import pytest
import torch

from rldebug.capture.stopwatch import Stopwatch
from rldebug.evidence.timings.reading import TimingError, read_timing


@pytest.fixture
def watch(tmp_path):
    made = Stopwatch(tmp_path)
    made.began = 100.0
    made.sampler.start = lambda: None
    made._next_window = made._next_write = float("inf")
    return made


def see(watch, seconds=1.0):
    watch._see(sys._getframe(1), seconds, 0.0)


def cells(watch):
    """(function, before, after, env) -> seconds."""
    found = {}
    for (stack, before, after, env, *_), (seconds, _) in watch.main.cells.items():
        key = (watch.stacks.known[stack].spots[-1].function.rpartition(".")[2], before, after, env)
        found[key] = found.get(key, 0.0) + seconds
    return found


def acts(watch):
    see(watch, 2.0)


def learns(watch):
    see(watch, 3.0)


def test_a_sample_lies_between_what_came_before_and_what_comes_next(watch):
    env = watch.environment(name="x", lanes=4)
    watch.stepped(env, 4)
    acts(watch)
    watch.stepped(env, 4)
    learns(watch)
    watch.happened("backward")
    watch.updated()
    assert cells(watch) == {("acts", "step", "step", 0): 2.0, ("learns", "step", "backward", -1): 3.0}
    assert watch.counts == {"env_steps": 8, "updates": 1, "phases": 1}


def test_the_same_place_between_the_same_two_is_one(watch):
    for _ in range(5):
        acts(watch)
        watch.stepped(-1, 1)
    assert sorted(cells(watch).items()) == [(("acts", "start", "step", -1), 2.0), (("acts", "step", "step", -1), 8.0)]


def test_acting_under_no_grad_is_told_apart(watch):
    with torch.no_grad():
        acts(watch)
    acts(watch)
    watch.stepped(-1, 1)
    assert sorted(cell[4] for cell in watch.main.cells) == [False, True]


def test_a_thread_has_a_sequence_of_its_own(watch):
    watch.happened("backward")
    thread = threading.Thread(target=watch.stepped, args=(-1, 1))
    thread.start()
    thread.join()
    acts(watch)
    watch.updated()
    assert cells(watch) == {("acts", "backward", "update", -1): 2.0}


def test_windows_are_joined_and_lose_nothing(watch, monkeypatch):
    monkeypatch.setattr("rldebug.capture.stopwatch._WINDOWS", 4)
    watch._window_began = 100.0
    for second in range(1, 8):
        acts(watch)
        watch.stepped(-1, 1)
        watch._end_window(100.0 + second, None)
    assert len(watch._windows) < 7
    assert sum(each["env_steps"] for each in watch._windows) == 7
    assert sum(each["seconds"] for each in watch._windows) == pytest.approx(7.0)
    assert sum(sum(each["cells"].values()) for each in watch._windows) == pytest.approx(14.0)


def test_what_raises_is_named_and_ends_the_sampling(watch):
    watch.stacks.place = lambda frame: 1 / 0
    watch._seen(sys._getframe(), 1.0, 0.0)
    assert "ZeroDivisionError" in watch.broken["capture/stopwatch"]


def test_what_was_written_is_read_again(watch, tmp_path):
    watch.stepped(-1, 1)
    for _ in range(3):
        acts(watch)
        watch.stepped(-1, 1)
    watch.write()
    timing = read_timing(tmp_path)
    assert timing.env_steps == 4
    assert {each.before + each.after for each in timing.slices} == {"stepstep"}
    assert timing.slices[0].user.function.endswith("acts")


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "cannot be read"), ('{"format": 9}', "format 9"), ('{"format": 1}', "is damaged"), ("[]", "format None")],
)
def test_a_file_that_cannot_be_read_is_named(text, said, tmp_path):
    (tmp_path / "timing.json").write_text(text)
    with pytest.raises(TimingError, match=said):
        read_timing(tmp_path)


def test_a_run_that_was_not_timed_has_none(tmp_path):
    assert read_timing(tmp_path) is None


def test_its_file_is_plain_json(watch, tmp_path):
    acts(watch)
    watch.stop()
    assert json.loads((tmp_path / "timing.json").read_text())["threads"]["0"]["cells"]


def test_what_comes_between_the_first_reset_and_the_first_step_is_the_start(watch):
    """Programs reset an environment to see its shapes, and then load what they learn from."""
    watch.environment(name="x", lanes=1)
    watch.happened("reset", 0)
    acts(watch)
    watch.stepped(0, 1)
    watch.happened("reset", 0)
    acts(watch)
    watch.stepped(0, 1)
    assert cells(watch) == {("acts", "start", "step", 0): 2.0, ("acts", "reset", "step", 0): 2.0}


def test_a_thread_in_which_nothing_happens_takes_little_room(watch):
    for _ in range(500):
        acts(watch)
    assert len(watch.main.waiting) == 1
    watch.stepped(-1, 1)
    ((seconds, samples),) = watch.main.cells.values()
    assert (seconds, samples) == (1000.0, 500)


def test_in_a_forked_process_nothing_is_written(watch, tmp_path):
    watch._in_child()
    watch.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_step_after_another_need_only_be_counted(watch):
    env = watch.environment(name="x", lanes=4)
    watch.stepped(env, 4)
    assert watch.steady.playing is watch.environments[env]
    watch.steady.begin(ref(watch), 4)
    watch.steady.calls += 9
    watch.steady.episodes += 2
    assert watch.counts["env_steps"] == 4
    watch.count_steps()
    assert (watch.counts["env_steps"], watch.environments[env]["steps"]) == (40, 40)
    watch.count_steps()
    assert watch.counts["env_steps"] == 40
    assert watch.environments[env]["episodes"] == 2


@pytest.mark.parametrize("what", ["sample", "backward", "update", "another"])
def test_whatever_comes_between_two_steps_makes_the_next_one_news(what, watch):
    env, other = watch.environment(name="x", lanes=1), watch.environment(name="y", lanes=1)
    watch.stepped(env, 1)
    watch.steady.begin(ref(watch), 1)
    if what == "sample":
        acts(watch)
    elif what == "update":
        watch.updated()
    elif what == "backward":
        watch.happened("backward")
    else:
        watch.stepped(other, 1)
    assert watch.steady.ref is None


def test_an_iteration_that_is_kept_in_its_order_has_all_its_steps(watch, monkeypatch):
    monkeypatch.setattr("rldebug.capture.stopwatch._WARM", 0.0)
    env = watch.environment(name="x", lanes=1)
    watch.stepped(env, 1)
    watch.updated()
    for _ in range(3):
        watch.stepped(env, 1)
        assert watch.steady.playing is None
    assert [kind for _, kind in watch._happened] == ["step", "step"]  # the first one opens it


def test_an_environment_was_stepped_last_when_its_turn_ended(watch, monkeypatch):
    clock = iter(range(101, 200))
    monkeypatch.setattr("rldebug.capture.stopwatch.time.perf_counter", lambda: float(next(clock)))
    one, other = watch.environment(name="x", lanes=1), watch.environment(name="y", lanes=1)
    for env in (one, one, other, one):
        watch.stepped(env, 1)
    watch.updated()
    first, second = watch.environments
    assert first["first"] < second["first"] <= second["last"] < first["last"]
    assert (first["turns"], second["turns"]) == (2, 1)
