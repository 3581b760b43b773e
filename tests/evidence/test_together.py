import math

import numpy as np
import pytest

from rldebug.evidence.run import Run
from rldebug.evidence.together import pooled_correlation, together


def test_keeps_the_lines_on_which_all_are_finite():
    run = Run.from_series({"a": [1.0, 2.0, None, 4.0], "b": [5.0, math.nan, 7.0, 8.0]})
    a, b = together(run, "a", "b")
    assert a.value.tolist() == [1.0, 4.0]
    assert b.value.tolist() == [5.0, 8.0]
    assert a.update.tolist() == b.update.tolist() == [0, 3]


def test_a_name_never_recorded_leaves_nothing():
    assert [len(each) for each in together(Run.from_series({"a": [1.0]}), "a", "b")] == [0, 0]


def test_fresh_lines_are_those_before_any_step_on_the_rollout():
    run = Run.from_series({"a": [1.0, 2.0, 3.0], "batch/staleness_mean": [0.0, 1.0, 0.0]})
    assert together(run, "a", fresh=True)[0].value.tolist() == [1.0, 3.0]


def test_fresh_lines_are_known_by_log_ratios_of_zero_where_staleness_is_not():
    run = Run.from_series({"a": [1.0, 2.0, 3.0], "policy/log_ratio_absmax": [0.0, 0.1, 1e-7]})
    assert together(run, "a", fresh=True)[0].value.tolist() == [1.0, 3.0]


def test_no_line_is_fresh_where_nobody_can_tell():
    assert not len(together(Run.from_series({"a": [1.0, 2.0]}), "a", fresh=True)[0])


def test_pooling_samples_of_one_correlation_finds_it():
    random = np.random.default_rng(0)
    counts, corrs = [], []
    for _ in range(200):
        n = int(random.integers(4, 40))
        x = random.normal(size=n)
        y = 0.6 * x + 0.8 * random.normal(size=n)
        counts.append(float(n))
        corrs.append(float(np.corrcoef(x, y)[0, 1]))
    pooled, error = pooled_correlation(np.array(corrs), np.array(counts))
    assert abs(np.arctanh(pooled) - np.arctanh(0.6)) < 3 * error
    assert error == pytest.approx(1 / math.sqrt(sum(counts) - 3 * 200))


def test_samples_of_three_say_nothing():
    pooled, error = pooled_correlation(np.array([1.0, -1.0]), np.array([3.0, 2.0]))
    assert math.isnan(pooled)
    assert error == math.inf
