from __future__ import annotations

from rldebug.rules.value_loss.next_action_drawn_in_present_state import NextActionDrawnInPresentState
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = NextActionDrawnInPresentState()


def test_fires_on_the_mean_for_the_present_state() -> None:
    assert "1024 of 1024 rows" in fires(rule, script(present_action=True)).seen


def test_fires_on_what_was_drawn_there() -> None:
    fires(rule, script(present_action=True, drawn=True))


def test_quiet_on_the_policys_action_in_the_next_state() -> None:
    quiet(rule, script())
    quiet(rule, script(drawn=True))


def test_quiet_where_the_action_follows_nothing_that_was_said_there() -> None:
    quiet(rule, script(present_action=True, drawn=True, smooth=lambda random, shape: random.normal(size=shape)))
