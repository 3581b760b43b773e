"""How each element of an observation was changed."""

from __future__ import annotations

import numpy as np

from rldebug.capture.columns import learned

LOW, SPAN = np.array([0.3, -0.2, 0.5, 0.0], np.float32), np.array([1.3, 0.2, 0.7, 8.0], np.float32)


def pairs(count: int = 8) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 4)).astype(np.float32)


def test_a_shift_and_a_factor_of_each_element_are_told() -> None:
    obs = pairs()
    change = learned(obs.astype(np.float64), ((obs - LOW) / SPAN).astype(np.float64))
    assert change is not None
    assert np.allclose(change.factor, 1 / SPAN)
    assert np.allclose(change.shift, -LOW / SPAN, atol=1e-6)
    assert not change.trivial


def test_elements_in_another_order_and_one_that_is_left_out() -> None:
    obs = pairs()
    change = learned(obs.astype(np.float64), (obs[:, [2, 0]] * np.float32(0.1)).astype(np.float64))
    assert change is not None
    assert change.of.tolist() == [2, 0]


def test_a_first_observation_that_was_forgotten_is_borne() -> None:
    obs = pairs()
    rows = (obs - LOW) / SPAN
    rows[0] = obs[0]
    assert learned(obs.astype(np.float64), rows.astype(np.float64)) is not None


def test_nothing_is_told_of_rows_that_are_others_or_change_with_time() -> None:
    obs = pairs()
    assert learned(obs.astype(np.float64), pairs()[::-1].astype(np.float64)) is None
    moving = (obs - LOW) / SPAN * np.linspace(1, 1.001, len(obs))[:, None]
    assert learned(obs.astype(np.float64), moving.astype(np.float64)) is None
    assert learned(obs.astype(np.float64), np.tanh(obs).astype(np.float64)) is None


def test_an_unchanged_observation_is_trivial() -> None:
    change = learned(pairs().astype(np.float64), pairs().astype(np.float64))
    assert change is not None
    assert change.trivial
