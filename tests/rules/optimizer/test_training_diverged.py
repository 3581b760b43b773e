import torch
from torch import nn

from rldebug.rules.optimizer.training_diverged import TrainingDiverged
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def diverged():
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    with torch.no_grad():
        policy.weight.fill_(float("nan"))
    return optimizer, torch.distributions.Categorical(logits=policy(torch.zeros(5, 3)))


def test_fires_when_the_weights_are_nan_after_many_updates():
    assert "learning rate 0.001" in names(TrainingDiverged(), crashed(diverged, updates=5000)).seen


def test_quiet_when_the_weights_are_nan_from_the_first_updates():
    quiet(TrainingDiverged(), crashed(diverged, updates=1))
