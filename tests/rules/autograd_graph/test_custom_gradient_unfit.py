import torch

from rldebug.rules.autograd_graph.custom_gradient_unfit import CustomGradientUnfit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return rows * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.sum(0)


def test_fires_when_a_gradient_is_summed():
    def program():
        rows = torch.ones(3, 2, requires_grad=True)
        Summed.apply(rows).sum().backward()

    names(CustomGradientUnfit(), crashed(program))


def test_quiet_when_backward_runs_twice():
    def program():
        loss = torch.ones(2, requires_grad=True).exp().sum()
        loss.backward()
        loss.backward()

    quiet(CustomGradientUnfit(), crashed(program))
