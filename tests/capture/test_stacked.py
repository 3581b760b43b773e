"""Of a stack of observations the newest is the row."""

from __future__ import annotations

import numpy as np
import torch

from rldebug.capture.stacked import answers_each, newest_frames


def test_the_newest_of_each_stack_is_its_row():
    stacks = np.array([[3, 4, 5], [7, 7, 8], [0, 1, 2], [9, 9, 9]])
    assert newest_frames(stacks.ravel(), 4).tolist() == [5, 8, 2, 9]
    assert newest_frames(stacks[:, ::-1].ravel(), 4).tolist() == [5, 8, 2, 9]


def test_rows_that_are_no_stacks_stay_as_they_are():
    mixed = np.array([3, 9, 5, 7, 1, 8, 0, 6, 2, 9, 4, 1])
    assert newest_frames(mixed, 4) is mixed
    repeated = np.repeat(np.arange(4), 3)
    assert newest_frames(repeated, 4) is repeated
    assert newest_frames(repeated, 4, sure=True).tolist() == [0, 1, 2, 3]
    assert newest_frames(mixed, 12) is mixed
    assert newest_frames(mixed, 0) is mixed


def test_a_network_that_answers_for_each_step_is_given_no_stacks():
    sequences = torch.zeros(5, 4, 2)
    assert answers_each(sequences, [torch.zeros(5, 3), torch.zeros(5)]) == 5
    assert answers_each(sequences, [torch.zeros(5, 4, 3), torch.zeros(1, 5, 8)]) == 0
    assert answers_each(torch.zeros(5, 2), [torch.zeros(5, 3)]) == 0
    assert answers_each(sequences, []) == 0
