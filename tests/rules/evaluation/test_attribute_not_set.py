from torch import nn

from rldebug.rules.evaluation.attribute_not_set import AttributeNotSet
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Learner:
    def __init__(self):
        self.memory = []

    def sample(self):
        return self.memroy[0]


class Critic(nn.Module):
    def forward(self, obs):
        return self.layers(obs)


def test_fires_when_a_name_is_spelt_differently():
    assert "write self.memory" in names(AttributeNotSet(), crashed(lambda: Learner().sample())).help


def test_quiet_when_a_network_is_asked():
    quiet(AttributeNotSet(), crashed(lambda: Critic()(1)))


def test_quiet_when_none_is_asked():
    quiet(AttributeNotSet(), crashed(lambda: Learner().memory.sort.memory))
