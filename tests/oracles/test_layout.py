from __future__ import annotations

import numpy as np
import pytest
import torch

from rldebug.oracles.layout import OVER_ROWS, OVER_TIME, Unreadable, lay, pack, suits, unlay, unpack

SIZES = {"T": 4, "U": 5, "B": 3, "N": 2, "A": 6}


@pytest.mark.parametrize("layout", OVER_TIME)
@pytest.mark.parametrize("axes", ["TB", "UB", "B", "TBA", ""])
def test_what_is_laid_out_over_time_is_read_back_the_same(layout, axes):
    sizes = {**SIZES, "B": 1} if layout in ("(T,)", "(T, 1)") else SIZES
    array = np.random.default_rng(0).normal(size=[sizes[axis] for axis in axes])
    back = unlay(lay(array, axes, layout), axes, layout, sizes)
    assert back is not None
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("layout", OVER_ROWS)
@pytest.mark.parametrize("axes", ["N", "NA"])
def test_what_is_laid_out_over_rows_is_read_back_the_same(layout, axes):
    sizes = {**SIZES, "N": 1} if layout == "one row" else SIZES
    array = np.random.default_rng(0).normal(size=[sizes[axis] for axis in axes])
    np.testing.assert_array_equal(unlay(lay(array, axes, layout), axes, layout, sizes), array)


def test_another_shape_is_not_read():
    assert unlay(np.zeros((4, 4)), "TB", "(T, B)", SIZES) is None
    assert unlay(np.zeros((3, 4)), "TB", "(T, B)", SIZES) is None
    assert unlay(np.zeros((3, 4)), "TB", "(B, T)", SIZES) is not None
    assert unlay(np.zeros((4, 3)), "TB", "(T, B, 1)", SIZES) is None


def test_one_environment_has_no_axis_for_several():
    assert suits("(T,)", {"T": 3, "B": 1})
    assert not suits("(T,)", {"T": 3, "B": 2})
    assert not suits("one row", {"N": 2})


def test_containers_hold_what_is_usual_in_them():
    flags = np.array([True, False])
    assert pack(flags, "flag", "torch", "bool").dtype == torch.bool
    assert pack(flags, "flag", "torch", "float").dtype == torch.float32
    assert pack(flags, "flag", "list", "bool") == [True, False]
    assert pack(np.array(2.5), "float", "list", "float") == 2.5
    assert pack(np.array([1, 2]), "int", "torch", "float").dtype == torch.int64
    given = np.zeros(3)
    pack(given, "float", "numpy", "float")[0] = 1
    pack(given, "float", "torch", "float")[0] = 1
    assert not given.any()


def test_what_is_no_array_is_told_apart():
    assert isinstance(unpack(object()), Unreadable)
    assert isinstance(unpack({"a": 1}), Unreadable)
    np.testing.assert_array_equal(unpack([torch.ones(2), torch.zeros(2)]), [[1, 1], [0, 0]])
    np.testing.assert_array_equal(unpack(torch.ones(2, requires_grad=True)), [1, 1])
