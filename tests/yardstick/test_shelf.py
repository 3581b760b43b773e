"""All that a run asks for: within the budget, in a sandbox, with nothing global changed."""

from __future__ import annotations

import random
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick import measure_all, shelf
from rldebug.yardstick.shape import Shape
from tests.yardstick.timings import everything, timing


def fake(name: str, share: float = 0.1, measure=None, asked=None) -> SimpleNamespace:
    return SimpleNamespace(
        NAME=name,
        asked=asked or (lambda made: Shape(share)),
        measure=measure or (lambda shape: Measured(name, "nothing", 1.0)),
    )


@pytest.fixture
def shelved(monkeypatch):
    """Puts other measurements on the shelf."""
    return lambda *modules: monkeypatch.setattr(shelf, "yardsticks", lambda: modules)


@pytest.fixture
def time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(shelf, "perf_counter", lambda: now[0])
    return now


def test_a_run_is_measured_by_what_it_asks_for():
    problems: list[str] = []
    found = measure_all(timing({"advantages": 1.0, "target networks": 1.0}), budget=60.0, problems=problems)
    assert found.keys() == {"returns", "polyak", "rollout_buffer"}
    assert all(each.name == name for name, each in found.items())
    assert problems == []


def test_a_run_without_shares_is_not_measured():
    problems: list[str] = []
    assert measure_all(Timing(10.0), problems=problems) == {}
    assert problems == []


def test_one_that_raises_is_left_out_and_named(shelved):
    def broken(_):
        raise RuntimeError("no such kernel\nat line 3")

    shelved(
        fake("good"), fake("bad", measure=broken), fake("unasked", asked=broken), fake("none", asked=lambda made: None)
    )
    problems: list[str] = []
    assert measure_all(Timing(1.0), problems=problems).keys() == {"good"}
    assert problems == [
        "yardstick unasked: RuntimeError: no such kernel",
        "yardstick bad: RuntimeError: no such kernel",
    ]


def test_the_budget_goes_to_what_takes_most_of_the_run(shelved, time):
    limits = {}

    def taking(seconds, name):
        def measure(shape):
            limits[name] = shape.limit
            time[0] += seconds
            return Measured(name, "nothing", 1.0)

        return measure

    shares = {"small": 0.05, "large": 0.5, "middle": 0.2, "next": 0.1}
    shelved(*(fake(name, share, taking(1.4, name)) for name, share in shares.items()))
    problems: list[str] = []
    assert list(measure_all(Timing(1.0), budget=3.0, problems=problems)) == ["large", "middle"]
    assert limits == {"large": 3.0, "middle": pytest.approx(1.6)}
    assert [each.split(":")[0] for each in problems] == ["yardstick next", "yardstick small"]


def test_what_is_compiled_and_what_fails_are_counted_rightly(shelved, time):
    def compiles():
        time[0] += 100.0

    def fails(shape):
        time[0] += 2.0
        raise RuntimeError

    first, second, third = fake("first", 0.3), fake("second", 0.2, fails), fake("third", 0.1)
    first.prepare = compiles
    shelved(first, second, third)
    assert measure_all(Timing(1.0), budget=3.0).keys() == {"first", "third"}
    assert measure_all(Timing(1.0), budget=2.2).keys() == {"first"}


def state() -> tuple[object, ...]:
    kind, keys, *rest = np.random.get_state()
    return (
        random.getstate(),
        (kind, keys.tobytes(), *rest),
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_num_threads(),
        torch.is_anomaly_enabled(),
        torch.is_anomaly_check_nan_enabled(),
        list(warnings.filters),
        threading.active_count(),
    )


def test_nothing_global_is_changed():
    random.seed(1), np.random.seed(2), torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), torch.autograd.set_detect_anomaly(True, check_nan=False):
            before = state()
            problems: list[str] = []
            found = measure_all(everything(), budget=60.0, problems=problems)
            assert state() == before
    finally:
        torch.set_default_dtype(torch.float32)
    assert problems == []
    assert len(found) == 11


def test_measurements_draw_from_no_global_generator(monkeypatch):
    """Not even to put it back afterwards: another thread might be drawing."""
    import contextlib

    monkeypatch.setattr("rldebug.yardstick.undisturbed.generators_kept", contextlib.nullcontext)
    monkeypatch.setattr("rldebug.yardstick.clock.ROUNDS", 1)
    before = state()
    measure_all(everything(), budget=60.0)
    assert state() == before


def test_one_that_raises_leaves_everything_as_it_was_too(shelved):
    def breaks(shape):
        torch.set_num_threads(3)
        torch.set_default_dtype(torch.float16)
        torch.rand(1), random.random(), np.random.rand()
        raise RuntimeError

    shelved(fake("bad", measure=breaks))
    before = state()
    assert measure_all(Timing(1.0)) == {}
    assert state() == before


def test_a_run_that_ended_in_inference_mode_is_measured_all_the_same():
    problems: list[str] = []
    with torch.inference_mode():
        found = measure_all(everything(), budget=60.0, problems=problems)
        assert torch.is_inference_mode_enabled()
    assert problems == []
    assert "ensemble" in found
