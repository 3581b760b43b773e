from types import SimpleNamespace

import torch
from torch import nn

from rldebug.rules.network.attribute_never_set import AttributeNeverSet
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.value_head = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, obs):
        return self.head_of_value(self.body(obs))

    def value(self, obs):
        return self.value_hed(self.body(obs))

    def begin(self):
        self.hidden = torch.zeros(1, 4)

    def act(self, obs):
        return self.body(obs) + self.hidden


def test_fires_when_a_layer_is_spelt_differently():
    finding = names(AttributeNeverSet(), crashed(lambda: Actor().value(torch.zeros(2, 3))))
    assert "value_head" in finding.help


def test_fires_when_the_method_that_sets_it_has_not_run():
    finding = names(AttributeNeverSet(), crashed(lambda: Actor().act(torch.zeros(2, 3))))
    assert "let begin() run" in finding.help


def test_fires_when_nothing_has_such_a_name():
    assert "in __init__" in names(AttributeNeverSet(), crashed(lambda: Actor()(torch.zeros(2, 3)))).help


def test_quiet_when_it_is_no_network_that_is_asked():
    quiet(AttributeNeverSet(), crashed(lambda: SimpleNamespace(gamma=0.9).gama))


def test_quiet_when_a_librarys_object_is_asked():
    quiet(AttributeNeverSet(), crashed(lambda: torch.zeros(2).value_head))
