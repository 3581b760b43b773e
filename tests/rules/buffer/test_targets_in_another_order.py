"""Targets in the rows of others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.rules.buffer.targets_in_another_order import TargetsInAnotherOrder
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings
from tests.wild import ppo


def swapped(of: Rollout) -> Array:
    made = gae(of)
    return np.asarray(made.T.reshape(made.shape))


def test_fires_swapped_axes_are_found() -> None:
    (finding,) = found(TargetsInAnotherOrder(), on_policy(swapped))
    assert "swapped" in finding.seen


def test_fires_targets_never_reversed_are_found() -> None:
    (finding,) = found(TargetsInAnotherOrder(), on_policy(lambda of: gae(of)[::-1]))
    assert "turned round" in finding.seen


def test_fires_swapped_axes_are_found_where_rewards_are_scaled_by_what_settles() -> None:
    def settling(of: Rollout) -> Rollout:
        factor = 1.0 / (1.0 + 2.0 / np.arange(4.0, 4.0 + len(of.reward)))
        return replace(of, reward=of.reward * factor[:, None])

    (finding,) = found(TargetsInAnotherOrder(), on_policy(lambda of: swapped(settling(of))))
    assert "swapped" in finding.seen


def test_quiet_targets_in_their_rows_are_fine() -> None:
    assert found(TargetsInAnotherOrder(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of)[::-1]), "BUF342")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "BUF342") == []


def test_fires_as_the_root_where_observations_alone_are_in_another_order() -> None:
    given = {each.code: each for each in findings(lambda: ppo.program("observations-lane-by-lane"), "BUF342", "ACT300")}
    assert given["BUF342"].follows == ()
    assert given["ACT300"].follows == ("BUF342",)
