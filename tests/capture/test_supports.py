"""The atoms of a distribution lie near the loss, under any name."""

import sys

import numpy as np
import torch
from torch import nn

from rldebug.capture.supports import supports


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("z", torch.linspace(-2.0, 2.0, 9))


class Agent:
    def __init__(self):
        self.head, self.places = Head(), np.linspace(0.0, 1.0, 6)

    def learn(self):
        rows = torch.arange(12)  # whole numbers: no support
        weights = torch.tensor([1.0, 3.0, 4.0, 9.0, 11.0])
        head = self.head
        found = supports(sys._getframe(0))
        return found if (rows, weights, head) else set()


def test_buffers_of_networks_and_attributes_are_found():
    assert {(9, -2.0, 2.0), (6, 0.0, 1.0)} <= Agent().learn()


def test_rows_that_are_not_evenly_spaced_or_not_of_fractions_are_none():
    assert not {count for count, _, _ in Agent().learn()} & {5, 12}


def test_what_needs_a_gradient_is_left_alone():
    learned = torch.linspace(0.0, 1.0, 7, requires_grad=True)
    assert learned.requires_grad
    assert 7 not in {count for count, _, _ in supports(sys._getframe(0))}


def test_rows_that_numpy_cannot_hold_are_left_alone():
    halves = torch.linspace(0.0, 1.0, 8, dtype=torch.bfloat16)
    thin = torch.linspace(0.0, 1.0, 10).to_sparse()
    assert len(halves) == 8
    assert thin.is_sparse
    assert not {count for count, _, _ in supports(sys._getframe(0))} & {8, 10}
