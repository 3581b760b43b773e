import torch
from torch import nn

from rldebug.rules.autograd_graph.loss_without_graph import LossWithoutGraph
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_log_probs_went_through_numpy():
    def program():
        logps = [nn.Linear(2, 2)(torch.zeros(2)).log_softmax(-1)[0].item() for _ in range(3)]
        loss = -(torch.tensor(logps) * torch.ones(3)).mean()
        loss.backward()

    assert "loss is () float32" in names(LossWithoutGraph(), crashed(program)).seen


def test_quiet_when_the_loss_is_not_a_number():
    quiet(LossWithoutGraph(), crashed(lambda: torch.zeros(3, requires_grad=True).exp().backward()))
