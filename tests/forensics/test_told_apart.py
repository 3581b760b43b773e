"""Rows of shuffled minibatches are told apart, although every observation comes back many times."""

import numpy as np
import pytest
from tests.forensics.rooms import LANES, TIMES, script, world
from tests.forensics.simulated import gae, returns

from rldebug.forensics.targets import fit_targets, fit_weights
from rldebug.forensics.told_apart import told_apart


def test_gamma_and_lambda_are_found_although_no_row_is_one_step_only():
    found = script(gae)
    (fit,) = (each for each in fit_targets(found) if each.what == "value")
    assert fit.gamma == pytest.approx(0.97, abs=1e-4)
    assert fit.lam == pytest.approx(0.9, abs=1e-3)
    assert fit.rightly("terminated")
    assert fit.rightly("truncated")
    assert fit.rows > 0.6 * 2 * TIMES * LANES * 0.7
    (weights,) = fit_weights(found)
    assert weights.of == "advantage"
    assert weights.slope > 0


def test_returns_in_order_are_found_too():
    (fit,) = (each for each in fit_targets(script(returns, shuffled=False, batches=1)) if each.what == "value")
    assert fit.gamma == pytest.approx(0.95, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "kind", "way"),
    [
        ({"mask": "none", "truncation": ""}, "terminated", "follows"),
        ({"mask": "carry"}, "terminated", "leak"),
        ({"truncation": ""}, "truncated", "zero"),
        ({"bootstrap": "zero"}, "rollout", "zero"),
    ],
)
def test_mistakes_at_ends_are_named(options, kind, way):
    (fit,) = (each for each in fit_targets(script(lambda of: gae(of, **options))) if each.what == "value")
    ending = fit.ending(kind, way)
    assert ending is not None, fit.endings
    assert ending.hit >= 4


def test_rows_of_targets_by_no_formula_are_not_told_apart():
    draw = np.random.default_rng(5)
    (found,) = told_apart(script(lambda of: draw.normal(size=of.reward.shape), count=1))
    rows = np.concatenate([each.arrays["rows"] for each in found.terms("regression")])
    assert (rows < 0).mean() > 0.9


def test_advantages_that_are_not_shuffled_with_their_rows():
    (weights,) = fit_weights(script(gae, forgotten=True))
    assert weights.of == "unordered"


def test_every_room_is_seen_many_times():
    _, room, _, action = world(0)
    pairs = room[:-1] * 10 + action
    assert np.unique(pairs, return_counts=True)[1].min() > 1
