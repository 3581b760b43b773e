import pytest
import torch
from torch import nn

from rldebug.rules.advantage.one_sample_normalised import OneSampleNormalised
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def update(rows):
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
    for chosen in (torch.arange(rows), torch.arange(rows)):
        dist = torch.distributions.Categorical(logits=policy(torch.ones(8, 3)[chosen]))
        weight = torch.randn(8)[chosen]
        weight = (weight - weight.mean()) / (weight.std() + 1e-8)
        loss = -(dist.log_prob(torch.zeros(rows)) * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.filterwarnings("ignore:std")
def test_fires_when_a_minibatch_holds_one_sample():
    assert "weight is NaN, and has one element" in names(OneSampleNormalised(), crashed(lambda: update(1))).seen


def test_quiet_when_all_weights_are_nan_for_another_reason():
    def program():
        policy = nn.Linear(3, 2)
        with torch.no_grad():
            policy.weight.fill_(float("nan"))
        torch.distributions.Categorical(logits=policy(torch.ones(8, 3)))

    quiet(OneSampleNormalised(), crashed(program))
