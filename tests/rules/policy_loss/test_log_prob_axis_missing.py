import torch
from torch import nn

from rldebug.rules.policy_loss.log_prob_axis_missing import LogProbAxisMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_discrete_log_prob_is_summed_once_more():
    def program():
        logp = nn.Linear(3, 2)(torch.zeros(5, 3)).log_softmax(-1)[:, 0]
        return logp.sum(1)

    names(LogProbAxisMissing(), crashed(program))


def test_quiet_when_an_observation_lacks_the_axis():
    def program():
        obs = torch.zeros(3)
        return obs.mean(1)

    quiet(LogProbAxisMissing(), crashed(program))
