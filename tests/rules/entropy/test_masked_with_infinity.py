import torch
from torch import nn

from rldebug.rules.entropy.masked_with_infinity import MaskedWithInfinity
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def update(lowest):
    policy = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
    mask = torch.tensor([True, False, False, False])
    for _ in range(2):
        logp = policy(torch.ones(8, 3)).masked_fill(mask, lowest).log_softmax(-1)
        torch.multinomial(logp.exp(), 1)
        entropy = -(logp.exp() * logp).sum(-1).mean()
        optimizer.zero_grad()
        entropy.backward()
        optimizer.step()
    raise ValueError("it went well")


def test_fires_when_the_entropy_is_taken_of_infinite_log_probs():
    names(MaskedWithInfinity(), crashed(lambda: update(float("-inf"))))


def test_quiet_when_the_mask_is_finite():
    quiet(MaskedWithInfinity(), crashed(lambda: update(-1e9)))
