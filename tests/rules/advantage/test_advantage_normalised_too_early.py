"""Which comes first: returns, or normalised advantages."""

from __future__ import annotations

import numpy as np

from rldebug.rules.advantage.advantage_normalised_too_early import AdvantageNormalisedTooEarly
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formulas import found, on_policy


def normalised(of: Rollout) -> Array:
    made = gae(of) - of.value[:-1]
    return np.asarray((made - made.mean()) / made.std() + of.value[:-1])


def test_fires_returns_of_normalised_advantages_are_found() -> None:
    assert len(found(AdvantageNormalisedTooEarly(), on_policy(normalised))) == 1


def test_quiet_returns_that_were_formed_first_are_fine() -> None:
    assert found(AdvantageNormalisedTooEarly(), on_policy(gae)) == []
