import torch
from torch import nn

from rldebug.rules.optimizer.rate_breaks_weights import RateBreaksWeights
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def torn(lr):
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    with torch.no_grad():
        policy.weight.fill_(float("nan"))
    return optimizer, torch.distributions.Categorical(logits=policy(torch.zeros(5, 3)))


def test_fires_when_a_free_log_std_is_thrown_far_away():
    def program():
        mean, spread = nn.Linear(2, 1), nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([*mean.parameters(), spread], lr=40)
        for _ in range(4):
            density = torch.distributions.Normal(mean(torch.ones(8, 2)), spread.exp()).log_prob(torch.ones(8, 1) * 9)
            optimizer.zero_grad()
            (-density * 50).mean().backward()
            optimizer.step()

    finding = names(RateBreaksWeights(), crashed(program, updates=2))
    assert "learning rate 40 of SGD" in finding.seen
    assert "came first into spread" not in finding.seen


def test_fires_at_once_when_the_learning_rate_is_great():
    assert "learning rate 0.5" in names(RateBreaksWeights(), crashed(lambda: torn(0.5), updates=3)).seen


def test_quiet_when_a_logarithm_gave_nan_first():
    def program():
        policy = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        loss = (0.0 * torch.log(policy(torch.ones(4, 3)) * 0)).mean()
        loss.backward()
        optimizer.step()
        return torch.distributions.Categorical(logits=policy(torch.ones(4, 3)))

    quiet(RateBreaksWeights(), crashed(program))


def test_quiet_at_an_ordinary_rate():
    quiet(RateBreaksWeights(), crashed(lambda: torn(3e-4)))
