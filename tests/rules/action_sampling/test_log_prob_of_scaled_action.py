"""The log-prob of an action that was scaled after it was drawn."""

from __future__ import annotations

from rldebug.rules.action_sampling.log_prob_of_scaled_action import LogProbOfScaledAction
from tests.judge import fires, not_enough, quiet
from tests.programs.gaussian_learners import learn
from tests.watched import watched

rule = LogProbOfScaledAction()


def test_fires_on_half_of_what_was_drawn() -> None:
    assert "0.5, 0.5, 0.5 times" in fires(rule, watched(lambda: learn(changed=lambda action: action * 0.5))[1]).seen


def test_fires_on_what_was_moved_and_in_a_ratio() -> None:
    fires(rule, watched(lambda: learn(changed=lambda action: 2.0 * action + 1.0, ratio=True))[1])


def test_quiet_on_what_was_drawn() -> None:
    quiet(rule, watched(learn)[1])
    quiet(rule, watched(lambda: learn(ratio=True))[1])


def test_quiet_where_it_was_clipped() -> None:
    quiet(rule, watched(lambda: learn(changed=lambda action: action.clamp(-1, 1)))[1])


def test_declines_on_one_update() -> None:
    not_enough(rule, watched(lambda: learn(updates=1))[1])
