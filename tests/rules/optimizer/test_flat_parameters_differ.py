import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

from rldebug.rules.optimizer.flat_parameters_differ import FlatParametersDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_policy_and_value_meet_the_policy_alone():
    def program():
        policy, value = nn.Linear(40, 30), nn.Linear(40, 20)
        flat = torch.cat([each.flatten() for net in (policy, value) for each in net.parameters()])
        step = torch.zeros(40 * 30 + 30)
        return flat + step

    names(FlatParametersDiffer(), crashed(program))


def test_fires_when_a_vector_too_short_is_written_back():
    def program():
        policy = nn.Linear(3, 2)
        vector_to_parameters(torch.zeros(7), policy.parameters())

    names(FlatParametersDiffer(), crashed(program))


def test_quiet_when_the_lengths_are_those_of_data():
    def program():
        policy = nn.Linear(40, 30)
        logp, weights = policy(torch.zeros(64, 40)).sum(-1), torch.zeros(32)
        return logp * weights

    quiet(FlatParametersDiffer(), crashed(program))
