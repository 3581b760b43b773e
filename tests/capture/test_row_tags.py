"""Rows that come out of one network and go into another keep the observation they were computed from."""

import numpy as np
import torch

from rldebug.capture.row_tags import RowTags


def tagged(rows):
    tags, output = RowTags(), torch.randn(len(rows), 6)
    tags.remember(output, np.array(rows))
    return tags, output


def test_rows_that_were_picked_joined_and_padded():
    tags, output = tagged([5, 6, 7, 8])
    given = torch.cat([output[[2, 0]], torch.zeros(3, 6)])
    assert tags.find(given).tolist() == [7, 5, -1, -1, -1]


def test_sequences_that_were_turned():
    tags, output = tagged([5, 6, 7, 8])
    assert tags.find(output.reshape(2, 2, 6).swapaxes(0, 1)).tolist() == [5, 7, 6, 8]


def test_rows_of_two_observations_are_of_neither():
    tags, output = tagged([5, 6, 7, 8])
    tags.remember(output[:1], np.array([9]))
    assert tags.find(output).tolist() == [-1, 6, 7, 8]


def test_other_numbers_are_not_found_nor_are_narrow_rows():
    tags, output = tagged([5, 6, 7, 8])
    assert tags.find(output + 1) is None
    tags.remember(output[:, :2], np.arange(4))
    assert tags.find(output[:, :2]) is None
    tags.clear()
    assert tags.find(output) is None
