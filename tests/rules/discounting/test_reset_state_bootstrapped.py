"""Truncated steps and the observation of the reset."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rldebug.rules.discounting.reset_state_bootstrapped import ResetStateBootstrapped
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.programs.normalised import program
from tests.watched import findings


def test_fires_the_value_of_the_reset_observation_is_found() -> None:
    def reset(of: Rollout) -> Array:
        return gae(replace(of, truncated=of.truncated & False), 0.97, 0.0)

    (finding,) = found(ResetStateBootstrapped(), on_policy(reset))
    assert "next episode" in finding.message


def test_quiet_the_value_of_the_final_observation_is_fine() -> None:
    assert found(ResetStateBootstrapped(), on_policy(gae)) == []
    assert found(ResetStateBootstrapped(), on_policy(lambda of: gae(of, truncation="zero"))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(replace(of, truncated=of.truncated & False))), "DIS303")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS303") == []


def test_fires_where_the_reward_was_paid_the_value_of_the_reset() -> None:
    assert findings(partial(program, "limit asks the reset"), "DIS303")


def test_quiet_where_the_reward_was_paid_the_value_of_the_last_observation() -> None:
    assert findings(program, "DIS303") == []


def test_quiet_where_the_critic_is_asked_about_what_all_lanes_were_led_to() -> None:
    assert findings(partial(program, led_to=True), "DIS303") == []


def test_fires_where_that_is_the_reset_in_some_of_them() -> None:
    assert findings(partial(program, "limit asks the reset", led_to=True), "DIS303")
