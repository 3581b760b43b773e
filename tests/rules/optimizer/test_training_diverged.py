import torch
from torch import nn

from rldebug.rules.optimizer.training_diverged import TrainingDiverged
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def diverged(lr=1e-3):
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    with torch.no_grad():
        policy.weight.fill_(float("nan"))
    return optimizer, torch.distributions.Categorical(logits=policy(torch.zeros(5, 3)))


def test_fires_when_the_weights_are_nan_after_many_updates():
    assert "learning rate 0.001" in names(TrainingDiverged(), crashed(diverged, updates=5000)).seen


def test_fires_at_once_when_the_learning_rate_is_great():
    names(TrainingDiverged(), crashed(lambda: diverged(0.5), updates=3))


def test_quiet_when_the_weights_are_nan_from_the_first_updates():
    quiet(TrainingDiverged(), crashed(diverged, updates=1))
