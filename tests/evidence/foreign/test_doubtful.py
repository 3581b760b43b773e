import numpy as np
import pytest

from rldebug.evidence.foreign.doubtful import without_gaps
from rldebug.evidence.foreign.known import Known
from rldebug.evidence.foreign.log import Column

X = float("nan")


def known(tag, values):
    return Known(tag, Column.of((i, X, value) for i, value in enumerate(values)))


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([X, X, 1, 2], [1, 2]),  # nothing to average yet
        ([1, X, 2, X], [1, 2]),  # computed on every other line
        ([1, 2, X, X], [1, 2, X, X]),
        ([X, 1, 2, X, X], [1, 2, X, X]),
        ([X, X, 1, 2, X], [1, 2]),
        ([1, float("inf")], [1, float("inf")]),
    ],
)
def test_gaps_are_left_out_and_an_end_is_kept(values, left):
    kept, told = without_gaps({"loss/value": known("train/value_loss", values)})
    np.testing.assert_array_equal(kept["loss/value"].column.value, left)
    assert bool(told) == (len(values) > len(left))


def test_a_loss_that_nobody_computes_is_left_out():
    kept, told = without_gaps({"loss/temperature": known("alpha_loss", [X, X]), "loss/value": known("v", [1, 2])})
    assert list(kept) == ["loss/value"]
    assert told == ["alpha_loss is not finite on 2 of 2 lines, which were left out as gaps"]


def test_a_run_that_was_never_finite_says_so():
    kept, told = without_gaps({"loss/policy": known("p", [X, X]), "loss/value": known("v", [X, X])})
    assert len(kept["loss/value"].column) == 2
    assert not told
