"""Each measurement, made once: numbers that make sense, and that are of the shapes asked for."""

from __future__ import annotations

import fcntl
import math
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest
import torch

from rldebug.evidence.timing import Measured
from rldebug.yardstick import clock, stepping
from rldebug.yardstick.shelf import yardsticks
from rldebug.yardstick.undisturbed import undisturbed
from tests.yardstick.timings import everything, timing

DETAIL = {
    "acting": {"1", "8", "32", "4", "1_grad", "8_grad", "32_grad", "4_grad"},
    "anomaly": {"off", "on"},
    "conversion": {"tensor", "list", "as_tensor", "batch", "item"},
    "ensemble": {"training", "training_loop", "forward", "forward_loop", "step", "step_loop"},
    "polyak": {"foreach", "loop", "lerp"},
    "precision": {"float32", "float64"},
    "prioritised": {"sample", "update", "scan"},
    "returns": {"kernel", "loop"},
    "rollout_buffer": {"write", "take", "sample", "stack"},
    "threads": {"1", "2"},
    "update": {"for_loop", "foreach", "fused", "forward_backward"},
}


def measured(name: str, **fields: object) -> Measured:
    module = next(each for each in yardsticks() if name == each.NAME)
    made = timing({"buffer sample": 2.0}, phases=5_120) if name == "prioritised" else everything(**fields)
    with undisturbed():
        return module.measure(module.asked(made))


@pytest.mark.parametrize("name", sorted(DETAIL))
def test_numbers_are_positive_and_finite(name):
    found = measured(name)
    assert found.name == name
    assert found.detail.keys() == DETAIL[name]
    assert all(math.isfinite(each) and each > 0 for each in (found.seconds, found.instead, *found.detail.values()))


def test_what_was_measured_is_said_in_the_shapes_of_the_run():
    assert measured("returns").what == "rldebug.parts.returns.gae, 512 × 4"
    assert measured("rollout_buffer").what == "rldebug.parts.buffers.RolloutBuffer, 512 × 4 of 4"
    assert measured("acting").what == "forward of 4 → 64 → 64 → 2, batch of 4"
    assert measured("ensemble").what == "rldebug.parts.ensemble.Ensemble of 2 × (6 → 32 → 32 → 1), batch of 128"
    assert measured("polyak").what == "torch._foreach_lerp_, 2626 parameters in 12 tensors"
    assert measured("prioritised").what.endswith("sample and update of 64, 20480 rows")


def test_off_policy_a_replay_buffer_is_measured():
    found = measured("rollout_buffer", phases=5_120)
    assert found.what == "rldebug.parts.buffers.Replay.sample, 128 of 20480 rows of 4"
    assert found.detail.keys() == {"write", "sample", "deque"}


def test_anomaly_mode_is_on_only_where_it_is_measured(monkeypatch):
    seen: dict[str, bool] = {}

    def watched(calls, seconds=0.0, device="cpu", around=None):
        for name, call in calls.items():
            with around(name):
                call()
                seen[name] = torch.is_anomaly_enabled()
        return dict.fromkeys(calls, 1.0)

    monkeypatch.setattr("rldebug.yardstick.measurements.anomaly.race", watched)
    measured("anomaly")
    assert seen == {"off": False, "on": True}


def test_an_optimizer_without_a_fused_kind_goes_without_it_and_an_unknown_one_is_adam():
    network = everything().networks[0]
    found = measured("update", networks=(replace(network, optimizer="Rprop"),))
    assert found.detail.keys() == {"for_loop", "foreach", "forward_backward"}
    assert "torch.optim.Rprop" in found.what
    assert "torch.optim.Adam," in measured("update", networks=(replace(network, optimizer="Mine"),)).what


def test_the_shortest_of_several_counts_and_short_calls_are_timed_together(monkeypatch):
    time, durations = [0.0], iter([9.0, 5.0, 3.0, 4.0])
    monkeypatch.setattr(clock, "perf_counter", lambda: time[0])

    def call() -> None:
        time[0] += next(durations)

    assert clock.race({"call": call}, seconds=0.0) == {"call": 3.0}
    calls = [0]

    def short() -> None:
        calls[0] += 1
        time[0] += 1e-6

    assert clock.race({"short": short}, seconds=0.0)["short"] == pytest.approx(1e-6)
    assert calls[0] == 1 + 1 + 2 * 50


def test_calls_take_turns_in_their_own_surroundings(monkeypatch):
    order = []
    clock.race(
        {
            "a": lambda: order.append(("a", torch.is_grad_enabled())),
            "b": lambda: order.append(("b", torch.is_grad_enabled())),
        },
        seconds=0.0,
        around=lambda name: torch.set_grad_enabled(name == "a"),
    )
    assert set(order) == {("a", True), ("b", False)}
    names = [name for name, _ in order]
    assert names.index("b") < len(names) - 1 - names[::-1].index("a"), "a was called again after b"


def test_environments_are_stepped_in_a_process_of_their_own():
    found = stepping.stepped("CartPole-v1", 2, 30.0)
    assert found.keys() == {"sync", "async", "env", "env_reset", "env_sync", "env_async"}
    assert all(math.isfinite(each) and each > 0 for each in found.values())


def test_an_environment_that_cannot_be_made_leaves_what_was_measured_before():
    assert stepping.stepped("NoSuchThing-v7", 1, 30.0).keys() == {"sync", "async"}


def test_a_child_that_takes_too_long_is_ended_with_its_workers(monkeypatch, tmp_path):
    began, lock = tmp_path / "began", tmp_path / "lock"
    code = f"""
        import fcntl, pathlib, subprocess, sys, time
        held = open({str(lock)!r}, "w")
        fcntl.flock(held, fcntl.LOCK_EX)
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        worker = subprocess.Popen(sleep, pass_fds=[held.fileno()], stdout=subprocess.DEVNULL)
        print("noise", flush=True)
        print('["sync", 1.0]', flush=True)
        pathlib.Path({str(began)!r}).touch()
        time.sleep(60)
    """
    monkeypatch.setattr(stepping, "CODE", textwrap.dedent(code))
    found: dict[str, float] = {}
    seconds = 0.2
    while not began.exists() and seconds < 30:  # on a busy machine it takes a while to begin
        seconds *= 2
        found = stepping.stepped("", 1, seconds)
    assert found == {"sync": 1.0}
    assert _free_within(10.0, lock), "the worker still runs: it holds the lock"


def _free_within(seconds: float, lock: Path) -> bool:
    until = monotonic() + seconds
    with lock.open("w") as file:
        while monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sleep(0.01)
            else:
                return True
    return False


def test_without_an_answer_there_is_no_measurement(monkeypatch):
    module = next(each for each in yardsticks() if each.NAME == "vector")
    monkeypatch.setattr(module, "stepped", lambda spec, lanes, seconds: {"sync": 1e-5})
    with pytest.raises(TimeoutError, match="no answer"):
        module.measure(module.asked(timing({"simulator": 2.0})))


def test_the_child_does_not_wait_for_torch():
    code = "import sys, rldebug.yardstick.stepping; print('torch' in sys.modules, 'gymnasium' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
