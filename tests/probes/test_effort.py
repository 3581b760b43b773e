"""How much an algorithm has tried."""

import torch

from rldebug.probes.effort import Effort


def stepped(lr, times=3):
    parameter = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([parameter], lr=lr)
    for _ in range(times):
        parameter.grad = torch.ones(4)
        optimizer.step()


def test_steps_rate_and_distance():
    with Effort() as effort:
        stepped(0.1)
    assert effort.updates == 3
    assert effort.lr == 0.1
    assert abs(effort.moved - 0.3) < 1e-6


def test_nothing_was_tried():
    with Effort() as effort:
        pass
    assert (effort.updates, effort.lr, effort.moved) == (0, None, None)


def test_it_counts_only_while_it_is_entered():
    with Effort() as effort:
        stepped(0.1)
    stepped(0.1)
    assert effort.updates == 3


def test_the_largest_rate_of_several_optimizers():
    with Effort() as effort:
        stepped(0.1)
        stepped(0.3)
    assert effort.lr == 0.3
    assert effort.updates == 6
