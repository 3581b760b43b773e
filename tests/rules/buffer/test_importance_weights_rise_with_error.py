from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.forensics.importance import errors_of, ranked
from rldebug.rule import NotEnough
from rldebug.rules.buffer.importance_weights_rise_with_error import ImportanceWeightsRiseWithError
from tests.programs.formulas import found
from tests.programs.value_learners import learned
from tests.programs.weighted import distributional
from tests.watched import watched


def test_fires_where_the_exponent_is_positive():
    (finding,) = found(ImportanceWeightsRiseWithError(), learned("weighted-up"))
    assert finding.component == "buffer"
    assert "rise together" in finding.seen


def test_quiet_where_rows_drawn_often_are_weighted_down():
    assert not found(ImportanceWeightsRiseWithError(), learned())


def seen(*how: Any, **more: Any) -> Script:
    return watched(lambda: distributional(*how, **more), overhead_budget=10.0)[1]


@pytest.mark.parametrize("measure", ["divergence", "cross"])
def test_fires_whatever_the_error_of_a_distribution(measure: str):
    assert found(ImportanceWeightsRiseWithError(), seen(measure, 0.6))


def test_quiet_where_wide_distributions_have_a_large_cross_entropy_however_well_they_are_met():
    assert not found(ImportanceWeightsRiseWithError(), seen("divergence"))


def test_quiet_where_priorities_are_made_of_no_error():
    with suppress(NotEnough):
        assert not found(ImportanceWeightsRiseWithError(), seen("reward"))


def test_equal_weights_in_the_order_of_their_rows_go_along_with_nothing():
    weight, error = np.r_[np.full(30, 0.5), 1.0], np.arange(31.0)
    assert abs(ranked(weight, np.r_[error[:30], 14.5])) < 0.01


def test_values_of_quantiles_are_no_distribution():
    values = np.abs(np.random.default_rng(0).normal(size=(16, 8)))
    term = Event(0, "term", 0, 0, {"kind": "regression"}, {"target": values, "prediction": values + 1.0})
    assert not errors_of(term, 16)
