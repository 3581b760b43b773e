import numpy as np
import pytest
from tests.programs.worlds import script

from rldebug.forensics.learning import chance, change, curve_of


def noise(count, mean, seed):
    return np.random.default_rng(seed).normal(mean, 2.0, count)


def test_a_difference_is_found_and_none_is_not():
    assert change(noise(60, 0, 0), noise(60, 2, 1)).chance < 0.01
    assert change(noise(60, 0, 0), noise(60, 0, 1)).chance > 0.05


def test_chance_is_uniform_where_nothing_differs():
    found = [chance(noise(15, 0, 2 * seed), noise(15, 0, 2 * seed + 1)) for seed in range(60)]
    assert 0.3 < np.mean(found) < 0.7
    assert np.mean(np.array(found) < 0.05) < 0.15


def test_what_is_visible_is_found_nineteen_times_out_of_twenty():
    seen = change(noise(40, 0, 0), noise(40, 0, 1))
    hits = [change(noise(40, 0, 100 + k), noise(40, seen.visible, 300 + k)).chance < 0.05 for k in range(40)]
    assert np.mean(hits) > 0.8
    assert seen.visible == pytest.approx(3.605 * seen.error)


def test_equal_returns_do_not_differ():
    assert chance(np.ones(5), np.ones(5)) == 1.0


def test_the_global_generator_is_left_alone():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    change(noise(10, 0, 0), noise(10, 0, 1))
    assert (np.random.get_state()[1] == before).all()


def test_a_curve_is_in_the_order_of_updates_and_without_nan():
    curve = curve_of(script({"returns": [1.0, "nan", 3.0, 4.0], "at": [0, 0, 9, 5], "lengths": [1, 1, 1, 1]}))
    assert curve.returns.tolist() == [1.0, 4.0, 3.0]
    assert curve.untrained(1) == 1
