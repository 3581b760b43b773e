"""Time limits learned as ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rldebug.evidence.script import Script
from rldebug.forensics.limits_felt import Felt
from rldebug.rules.discounting import time_limit_ends_targets
from rldebug.rules.discounting.time_limit_ends_targets import TimeLimitEndsTargets
from tests.forensics.simulated import gae
from tests.programs.formula_learners import Paid, PaidByTheClock, Wander, rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_a_limit_learned_as_an_end_is_a_note() -> None:
    (finding,) = found(TimeLimitEndsTargets(), on_policy(lambda of: gae(of, truncation="zero")))
    assert finding.severity == "note"


def test_quiet_bootstrapping_at_the_limit_is_fine() -> None:
    assert found(TimeLimitEndsTargets(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, truncation="zero")), "DIS304")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS304") == []


def test_a_warning_where_the_critic_expects_a_future_that_nobody_lets_it_have() -> None:
    (finding,) = findings(lambda: _learned(Paid, "zero"), "DIS304")
    assert finding.severity == "warning"
    assert "100% of the episodes" in finding.seen


def test_a_note_where_the_observation_tells_the_time() -> None:
    (finding,) = findings(lambda: _learned(PaidByTheClock, "zero"), "DIS304")
    assert finding.severity == "note"


def test_a_note_where_little_is_missed() -> None:
    (finding,) = findings(lambda: rollouts(lambda of: gae(of, truncation="zero"), count=12, rate=0.1), "DIS304")
    assert finding.severity == "note"


def test_quiet_where_the_critic_is_bootstrapped_there() -> None:
    assert findings(lambda: _learned(Paid, "final"), "DIS304") == []


@pytest.mark.parametrize(
    ("gamma", "length", "cut", "warned"),
    [(0.95, 200.0, 1.0, False), (0.99, 1000.0, 1.0, False), (0.99, 200.0, 1.0, True), (0.99, 200.0, 0.9, True)],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_costs_are_judged_like_rewards_by_how_much_lies_behind_the_limit(
    monkeypatch: pytest.MonkeyPatch, gamma: float, length: float, cut: float, warned: bool, sign: float
) -> None:
    felt = Felt(12, sign * 100.0, sign * 3.0, missed=1.0, share=0.9, length=length, cut=cut)
    monkeypatch.setattr(time_limit_ends_targets, "felt_at_limits", lambda script, site: felt)
    fit: Any = SimpleNamespace(gamma=gamma, what="q", name="value of target", site=None)
    assert (TimeLimitEndsTargets()._felt(Script(), fit) is felt) == warned


def _learned(world: type[Wander], truncation: str) -> None:
    rollouts(lambda of: gae(of, truncation=truncation), count=24, length=48, world=world, rate=0.05)
