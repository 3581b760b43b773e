"""What the user holds: found by its name, measured without a call of the user's code, and not kept alive."""

from __future__ import annotations

import gc
import sys
import weakref
from collections import deque
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture import held
from rldebug.capture.held import HeldLooker
from rldebug.evidence.timing import Held

LOOKS = (2.0, 4.0, 8.0, 16.0)


@pytest.fixture(autouse=True)
def all_the_time_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found must not depend on how busy the machine is, nor on which other tests were imported."""
    monkeypatch.setattr(held, "_SECONDS", 60.0)
    monkeypatch.setattr(held, "is_users", lambda file: file == __file__)


def named(looker: HeldLooker, name: str) -> Held:
    return next(each for each in looker.result() if each.name == name)


def grown(looker: HeldLooker) -> set[str]:
    """Those that a rule would take for growing: more in the last look than in the first."""
    return {each.name for each in looker.result() if len(each.items) >= 3 and each.items[-1] > each.items[0]}


class Memory:
    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.recent: deque[Any] = deque(maxlen=50)


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.memory = Memory()


def transition(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal(256), 1, float(rng.random()), False


def test_a_list_that_grows_is_named_as_the_code_names_it() -> None:
    rng, looker, agent, log = np.random.default_rng(0), HeldLooker(), Agent(), {"returns": [0.5]}
    for now in LOOKS:
        for _ in range(int(50 * now)):
            agent.memory.steps.append(transition(rng))
            agent.memory.recent.append(transition(rng))
            log["returns"].append(float(rng.random()))
        looker.look(now)
    assert {"agent.memory.steps", "log['returns']"} <= grown(looker)
    found = named(looker, "agent.memory.steps")
    assert found.file.endswith("test_held.py")
    assert found.at == LOOKS
    assert found.items == (100, 300, 700, 1500)
    one = 256 * 8 + sys.getsizeof(np.empty(0)) + sys.getsizeof(0.5) + sys.getsizeof((1, 2, 3, 4)) + 8
    assert found.bytes[-1] == pytest.approx(1500 * one, rel=0.05)
    assert found.graphs == 0


def test_observations_that_two_transitions_share_are_counted_once() -> None:
    rng, looker = np.random.default_rng(0), HeldLooker()
    states = [rng.standard_normal(1000) for _ in range(101)]
    pairs = [(states[i], states[i + 1]) for i in range(100)]
    looker.look(2.0)
    assert len(pairs) == 100
    assert named(looker, "pairs").bytes[-1] == pytest.approx(100 * 8000, rel=0.05)


def test_graphs_that_are_held_are_counted() -> None:
    looker, layer, losses, infos = HeldLooker(), nn.Linear(4, 1), [], []
    for now in LOOKS[:3]:
        for _ in range(20):
            losses.append(layer(torch.randn(4)).sum())
            infos.append({"loss": losses[-1].detach(), "entropy": losses[-1] if len(infos) % 2 else None})
        looker.look(now)
    assert {"losses", "infos"} <= grown(looker)
    assert named(looker, "losses").graphs == 60
    assert 10 <= named(looker, "infos").graphs <= 50


def test_a_deque_with_an_end_and_a_ring_that_is_full_do_not_grow() -> None:
    rng, looker = np.random.default_rng(0), HeldLooker()
    recent: deque[float] = deque(maxlen=10_000)
    ring: list[Any] = []
    trimmed: deque[Any] = deque()
    for now in LOOKS:
        for step in range(int(50 * now)):
            recent.append(float(rng.random()))
            trimmed.append(transition(rng))
            if len(trimmed) > 400:
                trimmed.popleft()
            if len(ring) < 500:
                ring.append(transition(rng))
            else:
                ring[step % 500] = transition(rng)
        looker.look(now)
    assert not grown(looker) & {"recent", "ring", "trimmed"}
    assert named(looker, "recent").items == (len(recent),)  # large it is, all the same


def test_a_list_that_each_episode_makes_anew_does_not_grow() -> None:
    rng, looker = np.random.default_rng(0), HeldLooker()
    for now in LOOKS:
        rewards, ones, observations = [], [], []
        for _ in range(int(100 * now)):
            rewards.append(float(rng.random()))
            ones.append(1.0)
            observations.append(rng.standard_normal(4))
        looker.look(now)
        del rewards, ones, observations  # the next ones may get their places in memory
    assert not grown(looker) & {"rewards", "ones", "observations"}


def test_an_array_that_is_put_together_again_and_again_grows_and_a_batch_does_not() -> None:
    rng, looker = np.random.default_rng(0), HeldLooker()
    history, kept = rng.standard_normal((10, 4)), torch.randn(10, 4)
    for now in LOOKS:
        history = np.concatenate([history, rng.standard_normal((int(10 * now), 4))])
        kept = torch.cat([kept, torch.randn(int(10 * now), 4)])
        batch = rng.standard_normal((int(10 * now), 4))
        looker.look(now)
    assert {"history", "kept"} <= grown(looker)
    assert "batch" not in grown(looker)
    assert named(looker, "history").bytes[-1] == history.nbytes
    assert named(looker, "kept").items[-1] == len(kept)
    assert len(batch) == 160


class Touchy:
    """All that it has of its own counts how often it is called."""

    calls: ClassVar[list[str]] = []

    def __init__(self) -> None:
        vars(self)["inside"] = [1.5, 2.5]

    @property
    def shown(self) -> Any:
        self.calls.append("property")
        return []

    def _called(self, *_: Any) -> Any:
        self.calls.append("method")
        return 0

    __len__ = __sizeof__ = __eq__ = __hash__ = __iter__ = __bool__ = __getattr__ = _called


class TouchyList(list[Any]):
    calls: ClassVar[list[str]] = []

    def _called(self, *_: Any) -> Any:
        self.calls.append("method")
        return 7

    __len__ = __sizeof__ = __iter__ = __getitem__ = __eq__ = __contains__ = _called  # type: ignore[assignment]


class Slotted:
    __slots__ = ("never", "rows")

    def __init__(self) -> None:
        self.rows = list(range(1000))


def test_nothing_of_the_users_is_called() -> None:
    looker, touchy, own, slotted = HeldLooker(), Touchy(), TouchyList(), Slotted()
    held_by = [Touchy() for _ in range(20)]
    list.extend(own, [Touchy() for _ in range(30)])
    Touchy.calls.clear()
    TouchyList.calls.clear()
    for now in LOOKS:
        looker.look(now)
    names = {each[1] for each in (series.place for series in looker._series.values())}
    assert {"touchy.inside", "held_by", "own", "slotted.rows"} <= names
    assert Touchy.calls == TouchyList.calls == []
    assert named(looker, "own").items[-1] == list.__len__(own) == 30
    assert (type(touchy), len(held_by), len(slotted.rows)) == (Touchy, 20, 1000)


class Thing:
    pass


def test_nothing_is_kept_alive() -> None:
    looker, things = HeldLooker(), [Thing() for _ in range(40)]
    tensor = torch.randn(100)
    gone = [weakref.ref(things[0]), weakref.ref(things[-1]), weakref.ref(tensor)]
    looker.look(2.0)
    assert named(looker, "things").items == (40,)
    del things, tensor
    assert all(each() is None for each in gone)  # at once, without the garbage collector
    assert gc.isenabled()


def test_the_variables_of_a_program_that_asks_for_them_are_left_as_they_are() -> None:
    looker = HeldLooker()

    def program() -> dict[str, Any]:
        rows = list(range(100))
        mine = locals()
        more = rows[:50]
        looker.look(2.0)
        assert len(more) == 50
        return mine

    assert "rows" in program()

    def another(options: Thing) -> None:
        outputs = [float(each) for each in range(300)]
        settings = vars(options)
        nn.Linear(1, 1).eval()
        looker.look(4.0)
        assert (len(outputs), settings) == (300, {})

    another(Thing())
    assert named(looker, "outputs").items == (300,)  # neither vars(…) nor .eval() ask for variables


def test_a_default_device_and_gradients_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    looker, weights = HeldLooker(), torch.ones(3, requires_grad=True)
    values = [weights * each for each in range(5)]
    monkeypatch.setattr(held, "_LARGEST", 1000)  # modules of other tests hold lists too
    with torch.device("cpu"):
        looker.look(2.0)
    values[-1].add_(1)
    sum(each.sum() for each in values).backward()
    assert torch.equal(weights.grad, torch.full((3,), 10.0))
    assert named(looker, "values").graphs == 5


def test_no_more_objects_are_met_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_OBJECTS", 3)
    looker = HeldLooker()
    looker.look(2.0)
    assert len(looker._series) <= 3
