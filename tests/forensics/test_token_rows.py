"""Rows are found again by their tokens: also without the last one, after an end, and where two are the same."""

import numpy as np

from rldebug.forensics.token_rows import find_rows, starts, with_last

END, PAD = 1, 0
TOKENS = np.array([[5, 6, 7, 4], [5, 1, 3, 0], [2, 2, 1, 6], [4, 4, 4, 1], [7, 1, 5, 5]])  # as they were drawn
KEPT = np.array([[5, 6, 7, 4], [5, 1, 0, 0], [2, 2, 1, 0], [4, 4, 4, 1], [7, 1, 0, 0]])  # as the program has them
PROMPTS = np.array([[3, 3], [3, 4], [3, 5], [3, 6], [3, 7]], dtype=np.int32)
IDS = np.concatenate([PROMPTS, KEPT], axis=1).astype(np.int32)


def test_all_tokens_are_given():
    assert 2 in starts(IDS, TOKENS, None)
    rows, length, ended = find_rows(IDS[::-1], 2, TOKENS, None)
    np.testing.assert_array_equal(rows, [4, 3, 2, 1, 0])
    np.testing.assert_array_equal(length, [2, 4, 3, 2, 4])
    np.testing.assert_array_equal(ended, [True, False, True, True, False])


def test_the_last_token_is_not_given():
    given = IDS[:, :-1]
    assert 2 in starts(given, TOKENS, None)
    rows, length, _ = find_rows(given, 2, TOKENS, None)
    np.testing.assert_array_equal(rows, np.arange(5))
    np.testing.assert_array_equal(with_last(given, 2, rows, length, TOKENS), IDS)


def test_filler_that_is_drawn_as_well_is_no_end():
    tokens = np.array([[2, 3, 0, 5], [4, 0, 0, 3], [6, 1, 0, 2], [1, 0, 3, 3], [5, 1, 4, 4]])
    kept = np.array([[2, 3, 0, 5], [4, 0, 0, 3], [6, 1, 0, 0], [1, 0, 0, 0], [5, 1, 0, 0]])
    ids = np.concatenate([PROMPTS, kept], axis=1).astype(np.int32)
    given = ids[:, :-1]
    rows, length, _ = find_rows(given, 2, tokens, None)
    np.testing.assert_array_equal(with_last(given, 2, rows, length, tokens), ids)


def test_the_same_answer_twice_is_two_rows():
    tokens = np.array([[5, 1], [5, 1], [6, 7]])
    ids = np.array([[3, 5, 1], [3, 6, 7], [3, 5, 1]], dtype=np.int32)
    rows, _, _ = find_rows(ids, 1, tokens, None)
    assert sorted(rows) == [0, 1, 2]


def test_what_is_drawn_after_the_end_does_not_matter():
    tokens = np.array([[1, 0, 5], [1, 4, 5], [6, 1, 0], [6, 1, 2]])
    ids = np.array([[3, 1, 0, 0], [3, 1, 0, 0], [3, 6, 1, 0], [3, 6, 1, 0]], dtype=np.int32)
    rows, _, _ = find_rows(ids, 1, tokens, None)
    np.testing.assert_array_equal(rows[:2], [0, 1])
    assert sorted(rows[2:]) == [2, 3]
