"""Environments of one process in the log of another."""

from __future__ import annotations

import types

import numpy as np
import torch

from rldebug.capture.elsewhere import FILE, Listener, Teller
from rldebug.capture.env_log import EnvLog
from rldebug.capture.ring import Ring


class Lift:
    pass


class Session:
    """The part that matters here."""

    def __init__(self):
        self.log = EnvLog(lambda: (0, 0), lambda env: None)
        self.audit, self.updates, self.actors = None, 0, []

    def acting(self):
        return self.actors


def both(tmp_path):
    here, there = Session(), Session()
    listener = Listener(here)
    listener.expect(tmp_path)
    return here, listener, there, Teller(there, Ring(tmp_path / FILE))


def play(teller, env, steps=5):
    teller.reset(env, np.zeros(3, dtype=np.float32), 7, 1)
    for t in range(steps):
        obs = np.full(3, t + 1.0, dtype=np.float32)
        teller.step(env, t % 2, obs, float(t), t == steps - 1, False, None)


def told(stream):
    described = stream.describe()
    return {name: each for name, each in described.items() if name != "facts"}


def test_what_is_told_is_logged_as_if_it_were_ones_own(tmp_path):
    here, listener, there, teller = both(tmp_path)
    env = Lift()
    there.log.new(env, "hand-rolled", 1, "disabled", {"api": 5})
    play(teller, env)
    play(teller, env, steps=3)
    listener.received()
    assert here.log.steps == 8
    (mine,), (theirs,) = here.log.streams, there.log.streams
    assert told(mine) == told(theirs)
    assert mine.name == "Lift"
    assert mine.facts == {"api": 5, "elsewhere": 0}
    assert mine.seeds == [7, 7]


def test_facts_that_come_later_are_told_too(tmp_path):
    here, listener, there, teller = both(tmp_path)
    env = Lift()
    facts = {}
    there.log.new(env, "hand-rolled", 1, "disabled", facts)
    play(teller, env)
    facts["resets_itself"] = True
    play(teller, env)
    listener.received()
    assert here.log.streams[0].facts["resets_itself"] is True


def test_an_array_that_is_handed_out_again_and_again_is_told(tmp_path):
    here, listener, _, teller = both(tmp_path)
    env, obs = Lift(), np.zeros(3, dtype=np.float32)
    teller.reset(env, obs, None, 1)
    for _ in range(4):
        teller.step(env, 0, obs, 0.0, False, False, None)
    teller.reset(env, obs, None, 1)
    listener.received()
    assert here.log.streams[0].aliased == 4


def test_tensors_are_sent_as_numbers(tmp_path):
    here, listener, _, teller = both(tmp_path)
    env = Lift()
    teller.reset(env, torch.ones(2), None, 1)
    teller.step(env, torch.tensor(1), torch.ones(2) * 2, torch.tensor(0.5), torch.tensor(False), False, None)
    listener.received()
    assert here.log.streams[0].reward.describe()["mean"] == 0.5


def test_who_learns_tells_nothing_any_more(tmp_path):
    here, listener, there, teller = both(tmp_path)
    there.updates = 1
    play(teller, Lift())
    listener.received()
    assert here.log.calls == 0
    assert there.log.steps == 5


def test_who_steps_environments_himself_does_not_listen(tmp_path):
    here, listener, _, teller = both(tmp_path)
    here.log.reset(Lift(), np.zeros(3), None, 1)
    play(teller, Lift())
    listener.received()
    listener.stepped()
    assert here.log.calls == 1


def test_in_an_audit_it_waits_for_a_network_or_an_optimizer(tmp_path):
    here, listener, _, teller = both(tmp_path)
    here.audit = types.SimpleNamespace()
    play(teller, Lift())
    listener.received()
    assert here.log.calls == 0
    listener.stepped()
    assert here.log.calls == 6


def test_memory_that_is_shared_is_heard_at_steps_until_something_is_received(tmp_path):
    here, listener, _, teller = both(tmp_path)
    play(teller, Lift())
    listener.stepped()
    assert here.log.calls == 6
    listener.received()
    play(teller, Lift())
    listener.stepped()
    assert here.log.calls == 6


def test_a_gap_joins_nothing(tmp_path):
    """The ring was full for a while: the steps before and after it are not neighbours."""
    here, listener, there, teller = both(tmp_path)
    env = Lift()
    play(teller, env)
    listener.received()
    teller._missing = True
    teller.step(env, 1, np.full(3, 9.0, dtype=np.float32), 9.0, False, False, None)
    listener.received()
    assert here.log.streams[0].current[0].obs.tolist() == [9.0, 9.0, 9.0]
    assert not any(here.log.get(each).reward == 9.0 for each in range(here.log.next_id) if here.log.get(each))
    assert there.log.steps == here.log.steps


def test_what_cannot_be_sent_ends_the_telling_and_not_the_log(tmp_path):
    here, listener, there, teller = both(tmp_path)
    env = Lift()
    teller.reset(env, Lift(), None, 1)
    play(teller, env)
    listener.received()
    assert here.log.steps == 0
    assert there.log.steps == 5


def test_the_weights_of_those_who_act_are_looked_at_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr("rldebug.capture.elsewhere._PAUSE", 0.0)
    here, listener, there, teller = both(tmp_path)
    actor = torch.nn.Linear(3, 2)
    there.actors = [actor]
    env = Lift()
    for update in range(3):
        here.updates = 10 * update
        play(teller, env)
        listener.received()
    actors = here.log.streams[0].facts["actors"]
    assert (actors["looks"], actors["first"], actors["last"], actors["changed"]) == (3, 0, 20, False)
    torch.nn.init.ones_(actor.weight)
    play(teller, env)
    listener.received()
    assert actors["changed"]


def test_files_are_gone_when_all_is_over(tmp_path):
    _, listener, _, _ = both(tmp_path)
    assert (tmp_path / FILE).exists()
    listener.close()
    assert not (tmp_path / FILE).exists()
