import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.policy_loss.policy_loss_not_reduced import PolicyLossNotReduced
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_log_probs_are_weighted_and_not_averaged():
    def program():
        logp = torch.distributions.Categorical(logits=nn.Linear(3, 2)(torch.zeros(5, 3))).log_prob(torch.zeros(5))
        loss = -logp * torch.ones(5)
        loss.backward()

    assert "loss (5,), made in line" in names(PolicyLossNotReduced(), crashed(program)).seen


def test_quiet_when_it_is_a_regression():
    quiet(
        PolicyLossNotReduced(),
        crashed(lambda: F.mse_loss(nn.Linear(3, 1)(torch.zeros(5, 3)), torch.ones(5, 1), reduction="none").backward()),
    )
