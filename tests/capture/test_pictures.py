"""What is shown of an array: a picture where it is one, its first numbers where not."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from rldebug.capture.pictures import VALUES, array_of, picture_of, side

RAMP = np.linspace(0, 255, 20 * 24).reshape(20, 24).astype(np.uint8)


@pytest.mark.parametrize(
    ("array", "shape"),
    [
        (np.stack([RAMP] * 3, axis=2), (20, 24, 3)),
        (np.stack([RAMP] * 3), (20, 24, 3)),
        (RAMP, (20, 24)),
        (RAMP[None], (20, 24)),
        (RAMP[:, :, None], (20, 24)),
        (np.stack([RAMP] * 4), (20, 4 * 24 + 3 * 2)),  # a stack of four
        (np.stack([RAMP] * 4, axis=2), (20, 4 * 24 + 3 * 2)),
        (np.stack([RAMP] * 6), (20, 2 * 24 + 2, 3)),  # a stack of two in colour
        (np.stack([RAMP[None]] * 4), (20, 4 * 24 + 3 * 2)),  # of four with a channel each
        (np.stack([np.stack([RAMP] * 3, axis=2)] * 2), (20, 2 * 24 + 2, 3)),
        (np.zeros((1000, 3000, 3), dtype=np.uint8), (84, 250, 3)),
    ],
)
def test_pictures(array, shape):
    assert picture_of(array).shape == shape


@pytest.mark.parametrize("shape", [(4,), (), (200,), (4, 4), (15, 40), (3, 8, 8), (50, 50, 50), (2, 2, 2, 2, 2)])
def test_what_is_no_picture(shape):
    assert picture_of(np.zeros(shape)) is None


def test_bytes_stay_and_other_numbers_go_from_black_to_white():
    assert np.array_equal(picture_of(RAMP), RAMP)
    shown = picture_of(RAMP.astype(np.float32) / 255 * 6 - 3)
    assert np.abs(shown.astype(int) - RAMP).max() <= 1
    assert picture_of(np.full((20, 20), 7.5)).max() == 0


def test_a_stack_keeps_its_order_and_one_scale_for_all():
    stack = np.stack([np.full((20, 20), value) for value in (0.0, 0.5, 1.0)][:2] + [np.full((20, 20), 1.0)] * 2)
    shown = picture_of(stack)
    assert [int(shown[0, place]) for place in (0, 22, 44, 66)] == [0, 128, 255, 255]


def test_numbers_that_are_none_do_no_harm():
    array = np.ones((20, 20))
    array[0, :3] = np.nan, np.inf, -np.inf
    array[1, 1] = 3.0
    told, shown = side(array)
    assert (told["min"], told["max"]) == (1.0, 3.0)
    assert shown[0, 1] == 255
    assert side(np.full(3, np.nan))[0]["values"] == [None, None, None]
    json.dumps(side(np.full((20, 20), np.nan))[0], allow_nan=False)


def test_the_numbers_of_a_vector():
    told, shown = side(np.arange(100.0, dtype=np.float32))
    assert shown is None
    assert told["shape"] == [100]
    assert told["dtype"] == "float32"
    assert told["values"] == list(range(VALUES))
    assert (told["min"], told["max"], told["mean"]) == (0.0, 99.0, 49.5)
    assert told["std"] == pytest.approx(np.arange(100).std())
    assert side(np.array(3))[0]["values"] == [3.0]


def test_arrays_are_copies_and_no_part_of_a_graph():
    given = np.arange(3.0)
    kept = array_of(given)
    given[0] = 9
    assert kept[0] == 0
    tensor = torch.ones(3, requires_grad=True) * 2
    kept = array_of(tensor)
    with torch.no_grad():
        tensor[0] = 9
    assert kept.tolist() == [2, 2, 2]
    assert array_of(torch.ones(2, dtype=torch.bfloat16)).tolist() == [1, 1]
    assert array_of("text") is None
    assert array_of(np.array(["a"])) is None
    assert array_of(np.zeros(0)) is None
