import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.value_loss.target_unlike_prediction import TargetUnlikePrediction
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_prediction_and_target_have_other_lengths():
    def program():
        value = nn.Linear(3, 1)(torch.zeros(5, 3)).squeeze(-1)
        return F.mse_loss(value, torch.zeros(7))

    names(TargetUnlikePrediction(), crashed(program))


def test_quiet_when_a_column_is_left_over():
    def program():
        value = nn.Linear(3, 1)(torch.zeros(5, 3))
        values = torch.zeros(4, 5)
        values[0] = value

    quiet(TargetUnlikePrediction(), crashed(program))


def test_quiet_when_a_log_prob_is_what_does_not_fit():
    def program():
        logp = nn.Linear(3, 2)(torch.zeros(5, 3)).log_softmax(-1)[:, 0]
        return logp * torch.zeros(7)

    quiet(TargetUnlikePrediction(), crashed(program))
