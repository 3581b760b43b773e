"""Prompts of different lengths, and tensors in which time comes first, are brought into one form."""

import numpy as np

from rldebug.evidence.script import Event
from rldebug.forensics.token_places import aligned, at_temperature, bare, shifted, time_first, turned

NO = -1
PROMPTS = np.array([[NO, 5, 6], [4, 5, 6], [NO, NO, 7]], dtype=np.int32)
TOKENS = np.array([[3, 2, 1, NO], [3, 3, 3, 3], [2, 1, NO, NO]])
FILLED = np.array([[5, 6, 3, 2, 1, 0, 0], [4, 5, 6, 3, 3, 3, 3], [7, 2, 1, 0, 0, 0, 0]], dtype=np.int32)


def tokens(order, arrays, grad=False):
    return Event(order, "tokens", 0, 0, {"grad": grad}, arrays)


def test_each_row_is_found_behind_its_own_prompt():
    found = aligned(FILLED[::-1], TOKENS, PROMPTS)
    np.testing.assert_array_equal(found.rows, [2, 1, 0])
    np.testing.assert_array_equal(found.length, [2, 4, 3])
    np.testing.assert_array_equal(found.ended, [True, False, True])
    np.testing.assert_array_equal(found.moved, [2, 0, 1])
    assert found.start == 3
    np.testing.assert_array_equal(found.ids[:, 3], [2, 3, 3])


def test_rows_that_were_not_written_are_not_found():
    other = np.where(FILLED >= 5, FILLED + 10, FILLED)
    assert aligned(other, TOKENS, PROMPTS) is None


def test_prompts_without_what_fills_them_up():
    assert bare(PROMPTS) == [(5, 6), (4, 5, 6), (7,)]
    assert bare(np.array([[0, 0, 5], [0, 4, 5], [3, 0, 5]], dtype=np.int32)) == [(5,), (4, 5), (3, 0, 5)]


def test_rows_move_by_their_own_number():
    np.testing.assert_array_equal(shifted(np.array([[1, 2], [3, 4]]), np.array([0, 1]), 0), [[1, 2, 0], [0, 3, 4]])


def test_time_first_is_seen_and_turned():
    call = tokens(1, {"ids": np.zeros((3, 8), dtype=np.int32), "last_below": np.ones((8, 5))})
    drawn = [(2, 0, np.zeros(8, dtype=np.int64), None)]
    assert time_first([call], drawn)
    other = turned(call)
    assert other.arrays["ids"].shape == (8, 3)
    assert other.arrays["last"].shape == (8, 5)
    assert not time_first([other], drawn)


def test_log_probs_at_another_temperature():
    scores = np.random.default_rng(0).normal(size=(2, 4, 5)).astype(np.float32)
    ids = np.array([[0, 1, 2, 3], [4, 3, 2, 1]], dtype=np.int32)
    found = at_temperature(tokens(0, {"ids": ids, "scores": scores}), 2.0).arrays["logp"]
    expected = 2 * scores[1, 0] - np.log(np.exp(2 * scores[1, 0]).sum())
    np.testing.assert_allclose(found[1, 0], expected[3], rtol=1e-5)
