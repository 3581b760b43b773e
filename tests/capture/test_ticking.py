from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture import ticking as module
from rldebug.capture.paced import PacedLog
from rldebug.capture.stopwatch import Stopwatch
from rldebug.capture.switch import Switchboard
from rldebug.capture.ticking import Ticking


class Log:
    def __init__(self):
        self.said = []

    def new(self, *args):
        self.said.append("new")
        return "stream"

    def step(self, *args):
        self.said.append("step")


class Quick(Log):
    def quick_step(self, *args):
        self.said.append("quick_step")


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=100.0, ticks=0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now.time)
    return now


@pytest.fixture
def switch():
    made = Switchboard()
    yield made
    made.undo()


def ticking(log, clock, switch, every=1.0):
    def tick():
        clock.ticks += 1
        return clock.time + every

    return Ticking(log, tick, switch)


def test_it_is_called_when_it_wants_to_be(clock, switch):
    log = Log()
    made = ticking(log, clock, switch)
    for _ in range(20):
        made.step("env")
        clock.time += 0.25
    assert clock.ticks == 5  # every fourth
    assert log.said == ["step"] * 20


def test_steps_of_optimizers_count_until_all_is_undone(clock, switch):
    ticking(Log(), clock, switch, every=0.0)
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    optimizer.step()
    optimizer.step()
    assert clock.ticks == 2
    switch.undo()
    optimizer.step()
    assert clock.ticks == 2


def test_it_has_what_the_log_has_and_no_more(clock, switch, tmp_path):
    plain, quick = ticking(Log(), clock, switch), ticking(Quick(), clock, switch)
    assert not hasattr(plain, "quick_step")
    assert not hasattr(plain, "light")
    assert plain.new() == "stream"
    quick.quick_step("env")
    assert quick.log.said == ["quick_step"]
    assert clock.ticks == 1
    with pytest.raises(AttributeError, match="nothing"):
        plain.nothing  # noqa: B018
    light = ticking(PacedLog(Stopwatch(tmp_path)), clock, switch)
    assert not hasattr(light, "quick_step")
    known = SimpleNamespace(stream=None, inner=object)
    assert light.light(known, (np.zeros(2), 0.0, False, False, {}))  # read at a glance
    assert not light.light(known, None)
    assert light.log.stopwatch.counts["env_steps"] == 1
    assert clock.ticks == 2  # it was not due again
