"""Normalised environment by environment."""

from __future__ import annotations

import numpy as np

from rldebug.rules.advantage.advantage_normalised_per_environment import AdvantageNormalisedPerEnvironment
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_fires_a_mean_for_each_environment_is_a_note() -> None:
    def apart(of: Rollout) -> Array:
        made = advantage(of)
        return np.asarray((made - made.mean(axis=0)) / made.std(axis=0))

    (finding,) = found(AdvantageNormalisedPerEnvironment(), on_policy(gae, apart))
    assert finding.severity == "note"


def test_quiet_one_mean_is_fine() -> None:
    def together(of: Rollout) -> Array:
        made = advantage(of)
        return np.asarray((made - made.mean()) / made.std())

    assert found(AdvantageNormalisedPerEnvironment(), on_policy(gae, together)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(gae, lambda of: advantage(of) / advantage(of).std(axis=0)), "ADV323")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "ADV323") == []
