"""Advantages that were made apart from the targets of the critic."""

from __future__ import annotations

import numpy as np
from tests.forensics.simulated import Array, Rollout, gae, several
from tests.programs.formulas import on_policy

from rldebug.forensics.targets import fit_weights
from rldebug.forensics.weight_recursion import recursion


def advantages(of: Rollout) -> Array:
    return gae(of, 0.97, 0.9) - of.value[:-1]


def test_short_rollouts_are_looked_at_together() -> None:
    found = recursion(several(advantages, count=12, times=12, lanes=1))
    assert found is not None
    assert abs(found.gamma - 0.97) < 1e-3
    assert abs(found.carried - 0.97 * 0.9) < 1e-3


def test_a_sign_that_was_lost_is_found() -> None:
    """The critic learns returns, log-probs are weighted with something else."""
    (right,) = fit_weights(on_policy(lambda of: gae(of, lam=1.0), lambda of: -advantages(of)))
    assert right.slope < 0
    assert all(each.slope > 0 for each in fit_weights(on_policy(lambda of: gae(of, lam=1.0), advantages)))


def test_a_critic_that_has_hardly_begun_tells_the_discount_too() -> None:
    """Its values are a thousandth of the advantages: far more than rounding, and far less than any statistics."""

    def faint(of: Rollout) -> Array:
        of.value, of.final = of.value * 2e-3, of.final * 2e-3
        made = advantages(of)
        return np.asarray((made - made.mean()) / made.std())

    found = recursion(several(faint))
    assert found is not None
    assert abs(found.gamma - 0.97) < 1e-3
    assert abs(found.carried - 0.97 * 0.9) < 1e-3
