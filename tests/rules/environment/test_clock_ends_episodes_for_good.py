from typing import Any

import numpy as np

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.finding import Finding
from tests.programs.made import call, nodes, script

CODE = "ENV351"


def found(lengths: list[int], *, clock: bool = False, pieces: bool = False, **stream: Any) -> list[Finding]:
    obs = np.random.default_rng(0).normal(size=(80, 3))
    if clock:
        obs[:, 2] = np.arange(80)
    if pieces:
        obs = np.where(np.arange(80)[:, None] // 10 > np.arange(8), np.where(obs[:, :1] > 0, 1.0, -1.0), 0.0)
    of_audit = nodes(obs)
    of_audit.first[0] = True
    rows = np.arange(80)
    events = [call(0, rows, obs, acting=True), call(1, rows, obs, grad=True)]
    made = script([(of_audit, events)], [{"lengths": lengths, **stream}])
    report = diagnose([made], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


PILED = [12, 33, 21, 60, 60, 17, 60, 45, 60, 28, 60, 39, 60, 60, 51, 60, 9, 60, 60, 60, 60, 60]


def test_fires_where_ends_pile_up_at_a_round_number():
    (finding,) = found(PILED)
    assert finding.component == "environment"


def test_quiet_where_they_are_truncated_or_seen_or_natural():
    assert not found(PILED, truncations=12)
    assert not found(PILED, clock=True)
    assert not found([each if each < 60 else 9 for each in PILED])
    assert not found(PILED, pieces=True)
    assert not found(PILED, facts={"api": "4-tuple"})  # its info may tell, and the targets do not say


SELDOM = [*range(3, 29), *range(4, 30), 31, 38, 30, 34, 60, 60, 60, 60, 60, 60, 60]


def test_fires_where_most_end_before_but_all_who_come_so_far_end_there():
    assert sum(each == 60 for each in SELDOM) < 0.15 * len(SELDOM)
    (finding,) = found(SELDOM)
    assert finding.severity == "warning"
    assert "60 steps" in finding.seen


def test_only_notes_it_where_few_come_so_far():
    (finding,) = found([*SELDOM, *range(2, 29)])
    assert finding.severity == "note"


def test_quiet_where_ends_are_as_likely_shortly_before():
    assert not found([*SELDOM, *(50 + each // 5 for each in range(50))])
    assert not found([*SELDOM[:-7], 60, 60])


MOSTLY = [45] * 33 + [19, 43, 17]


def test_fires_at_another_number_where_most_end_there():
    (finding,) = found(MOSTLY)
    assert finding.severity == "warning"


def test_quiet_at_another_number_where_a_task_may_be_over_then():
    assert not found([24 if each == 45 else min(each, 23) for each in MOSTLY])
    assert not found([45] * 14 + [19, 43, 17] * 6)
    assert not found([45] * 36)
