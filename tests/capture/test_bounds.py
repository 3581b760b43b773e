"""What a session writes and spends is bounded, however long the program runs."""

import time

import numpy as np
import pytest

from rldebug.capture import session as sessions
from rldebug.capture.session import Options, Session


@pytest.fixture
def make(tmp_path):
    made = []

    def session(**options):
        made.append(Session(tmp_path / str(len(made)), Options(**options)))
        made[-1].install()
        return made[-1]

    yield session
    for each in made:
        each.finish()


class Env:
    pass


def play(session, phases, seconds=0.0):
    """Acting and learning as the hooks tell of it; `seconds` go into each audit."""
    env = Env()
    session.log.new(env, "gymnasium", 1, "disabled", {})
    session.log.reset(env, np.zeros(2), None, 1)
    begun = []
    for phase in range(phases):
        for step in range(20):
            session.log.step(env, 0, np.array([phase, step]), 1.0, False, False, None)
        if session.audit is not None:
            begun.append(session.audit.number)
            session.timed().spent += seconds
        session.stepped()
    return sorted(set(begun))


def test_a_budget_of_nothing_leaves_the_first_audits(make):
    session = make(overhead_budget=0.0)
    assert play(session, 200) == [0, 1, 2]


def test_a_budget_is_kept(make, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(sessions.time, "process_time", lambda: clock[0])
    session = make(overhead_budget=0.05)
    env = Env()
    session.log.new(env, "gymnasium", 1, "disabled", {})
    session.log.reset(env, np.zeros(2), None, 1)
    cost = 0.5  # of one audit
    for phase in range(3000):
        for step in range(20):
            session.log.step(env, 0, np.array([phase, step]), 1.0, False, False, None)
        if session.audit is not None:
            session.timed().spent += cost
        session.stepped()
        clock[0] += 0.1
        free = 3 * cost + sessions._GRACE + cost  # the first three, the grace, and the one that is under way
        assert session.spent <= 0.05 * clock[0] + free + 0.2
    assert session.audits > 10, "there was room for more"


def test_the_start_and_the_readings_are_paid_from_the_same_budget(make, monkeypatch):
    clock = [10.0 * (sessions._GRACE + 0.3)]
    monkeypatch.setattr(sessions.time, "process_time", lambda: clock[0])
    session = make(overhead_budget=0.1)
    session.timed().spent = sessions._GRACE + 0.2
    assert session.within_budget()
    session.took(0.5)
    assert not session.within_budget()
    assert session.spent == pytest.approx(sessions._GRACE + 0.7)
    session.timed().spent = sessions._GRACE / 2
    assert session.within_budget(), "short programs are seen too"


def test_what_is_timed_within_what_is_timed_counts_once(make, monkeypatch):
    session = make()
    before = session.spent
    clock = iter([1.0, 4.0])
    with monkeypatch.context() as patched:
        patched.setattr(sessions.time, "thread_time", lambda: next(clock))
        with session.timed(), session.timed():
            pass
    assert session.spent - before == pytest.approx(3.0)


def test_files_and_notes_are_bounded(make):
    session = make(overhead_budget=1.0)
    start = time.process_time()
    play(session, 4000)
    assert session.audits > sessions._KEPT
    kept = sorted(int(each.stem) for each in (session.folder / "audits").glob("*.npz"))
    assert len(kept) <= sessions._KEPT
    assert kept[:3] == [0, 1, 2]
    assert max(kept) == session.audits - 1
    for number in range(3 * sessions._NOTES):
        session.note("seed", value=number)
    lines = (session.folder / "script.jsonl").read_text().splitlines()
    assert sum('"kind":"seed"' in each for each in lines) == sessions._NOTES
    assert time.process_time() - start < 60
