import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.rules.entropy.entropy_of_another_shape import EntropyOfAnotherShape
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def dist():
    return Categorical(logits=nn.Linear(4, 2)(torch.zeros(64, 3, 4)))


def test_fires_when_the_parts_of_an_action_are_not_summed():
    def program():
        entropy, mask = dist().entropy(), torch.ones(64)
        return entropy * mask

    names(EntropyOfAnotherShape(), crashed(program))


def test_quiet_when_it_is_the_log_prob():
    def program():
        logp, mask = dist().log_prob(torch.zeros(64, 3)), torch.ones(64)
        return logp * mask

    quiet(EntropyOfAnotherShape(), crashed(program))
