import torch
from torch import nn

from rldebug.rules.autograd_graph.gradient_is_none import GradientIsNone
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_norm_of_a_gradient_is_asked_for_that_is_none():
    def program():
        net = nn.Linear(2, 2)
        return [p.grad.norm() for p in net.parameters()]

    names(GradientIsNone(), crashed(program))


def test_fires_when_a_loss_does_not_use_the_parameter():
    def program():
        used, unused = nn.Linear(2, 1), nn.Linear(2, 1)
        torch.autograd.grad(used(torch.zeros(2)).sum(), list(unused.parameters()))

    names(GradientIsNone(), crashed(program))


def test_quiet_when_something_else_is_none():
    def program():
        env = None
        env.reset()

    quiet(GradientIsNone(), crashed(program))
