"""Which environments are played to see how good the policy is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rldebug.evidence.script import Script
from rldebug.forensics import worlds


def streams(**second: Any) -> Script:
    trained = {"index": 0, "name": "Buoy", "steps": 1600, "lanes": 4, "phases": 350, "lengths": [40] * 30}
    other = {"index": 1, "name": "Buoy", "steps": 480, "lanes": 4, "lengths": [40] * 12, **second}
    return Script(things={"stream": {"0": trained, "1": other}})


@pytest.mark.parametrize(
    ("phases", "expected"),
    [(120, frozenset()), (1, frozenset({1})), (12, frozenset({1}))],
    ids=["learned from after each step", "played once", "played now and then"],
)
def test_an_environment_amid_whose_episodes_the_program_learns_is_no_evaluation(
    monkeypatch: pytest.MonkeyPatch, phases: int, expected: frozenset[int]
) -> None:
    monkeypatch.setattr(worlds, "roles_of", lambda script: SimpleNamespace(stream=0))
    monkeypatch.setattr(worlds, "_rows", lambda script: (frozenset({0}), True))
    assert worlds.evaluation_streams(streams(phases=phases)) == expected


@pytest.mark.parametrize(
    ("learned", "phases", "expected"),
    [(0, 6, frozenset({1})), (0, 300, frozenset()), (40, 6, frozenset())],
    ids=["played now and then", "stepped all the time", "learned from"],
)
def test_where_rows_look_alike_one_that_is_played_seldom_and_never_learned_from_is_an_evaluation(
    monkeypatch: pytest.MonkeyPatch, learned: int, phases: int, expected: frozenset[int]
) -> None:
    monkeypatch.setattr(worlds, "roles_of", lambda script: SimpleNamespace(stream=0))
    monkeypatch.setattr(worlds, "_rows", lambda script: (frozenset({0}), False))
    script = streams(steps=1700, phases=phases, learned=learned)
    script.things["stream"]["0"]["learned"] = 900
    assert worlds.evaluation_streams(script) == expected
    assert len(worlds.training_streams(script)) == 2 - len(expected)
