"""Normalised environment by environment."""

from __future__ import annotations

import numpy as np

from rldebug.rules.advantage.advantage_normalised_per_environment import AdvantageNormalisedPerEnvironment
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formulas import found, on_policy


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_a_mean_for_each_environment_is_a_note() -> None:
    def apart(of: Rollout) -> Array:
        made = advantage(of)
        return np.asarray((made - made.mean(axis=0)) / made.std(axis=0))

    (finding,) = found(AdvantageNormalisedPerEnvironment(), on_policy(gae, apart))
    assert finding.severity == "note"


def test_one_mean_is_fine() -> None:
    def together(of: Rollout) -> Array:
        made = advantage(of)
        return np.asarray((made - made.mean()) / made.std())

    assert found(AdvantageNormalisedPerEnvironment(), on_policy(gae, together)) == []
