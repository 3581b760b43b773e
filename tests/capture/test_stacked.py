"""Of a stack of observations the newest is the row."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

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
    sequences, net = torch.zeros(5, 4, 2), nn.Linear(2, 3)
    assert answers_each(sequences, [torch.zeros(5, 3), torch.zeros(5)], net) == 5
    assert answers_each(sequences, [torch.zeros(5, 4, 3), torch.zeros(1, 5, 8)], net) == 0
    assert answers_each(torch.zeros(5, 2), [torch.zeros(5, 3)], net) == 0
    assert answers_each(sequences, [], net) == 0


def test_as_many_actions_as_frames():
    frames, values = torch.zeros(5, 4, 8, 8), [torch.zeros(5, 4)]
    assert answers_each(frames, values, nn.Sequential(nn.Conv2d(4, 6, 3), nn.Flatten(), nn.Linear(216, 4))) == 5
    assert answers_each(frames, values, nn.Sequential(nn.Flatten(), nn.Linear(256, 4))) == 5
    # A number for each frame: the network is shown them one by one.
    assert answers_each(frames, values, nn.Sequential(nn.Conv2d(1, 6, 3), nn.Flatten(), nn.Linear(216, 1))) == 0
    assert answers_each(torch.zeros(5, 4, 2), values, nn.Linear(2, 1)) == 0
