"""Targets of another scale than the values."""

from __future__ import annotations

import numpy as np

from rldebug.rules.value_loss.target_from_normalised_advantages import TargetFromNormalisedAdvantages
from tests.forensics.simulated import Array, Rollout, gae, returns
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.programs.written import found as written
from tests.watched import findings


def normalised(of: Rollout) -> Array:
    made = gae(of) - of.value[:-1]
    return np.asarray((made - made.mean()) / made.std() + of.value[:-1])


def test_fires_normalised_advantages_in_targets_are_found() -> None:
    assert len(found(TargetFromNormalisedAdvantages(), on_policy(normalised))) == 1


def test_quiet_advantages_as_they_are_are_fine() -> None:
    assert found(TargetFromNormalisedAdvantages(), on_policy(gae)) == []
    assert found(TargetFromNormalisedAdvantages(), on_policy(gae, constant=True)) == []


def test_fires_weights_that_are_the_errors_and_normalised_tell_it_too() -> None:
    def weight(of: Rollout) -> Array:
        return normalised(of) - of.value[:-1]

    script = on_policy(normalised, weight, constant=True)
    assert len(found(TargetFromNormalisedAdvantages(), script)) == 1


def test_quiet_normalised_returns_with_a_critic_that_knows_nothing_are_fine() -> None:
    def standard(of: Rollout) -> Array:
        made = returns(of)
        return np.asarray((made - made.mean()) / made.std())

    def small(of: Rollout) -> Array:
        of.value *= 0.001
        of.final *= 0.001
        return standard(of)

    assert found(TargetFromNormalisedAdvantages(), on_policy(small, standard)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(normalised), "VAL361")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "VAL361") == []


def test_fires_on_the_tokens_of_answers_and_is_quiet_where_returns_come_first() -> None:
    assert written("VAL361", "early", "stepwise")
    assert not written("VAL361", kind="stepwise")
    assert not written("VAL361", kind="critic")
