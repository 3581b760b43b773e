import torch
from torch import nn

from rldebug.rules.network.batch_norm_of_one_row import BatchNormOfOneRow
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_acting_in_training_mode():
    names(BatchNormOfOneRow(), crashed(lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))(torch.zeros(1, 2))))


def test_quiet_when_the_width_is_wrong():
    quiet(BatchNormOfOneRow(), crashed(lambda: nn.BatchNorm1d(3)(torch.zeros(5, 2))))
