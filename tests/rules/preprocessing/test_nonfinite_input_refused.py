import numpy as np
import torch
from torch import nn

from rldebug.rules.preprocessing.nonfinite_input_refused import NonfiniteInputRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def nan(fed=True):
    policy = nn.Linear(3, 2)
    obs = np.full((5, 3), np.nan if fed else 0.0, dtype=np.float32)
    mean = policy(torch.as_tensor(obs)) if fed else policy(torch.as_tensor(obs)) / 0.0 * 0.0
    return torch.distributions.Normal(mean, torch.ones(2))


def test_fires_when_the_observation_holds_nan():
    assert "obs holds NaN" in names(NonfiniteInputRefused(), crashed(nan)).seen


def test_quiet_when_the_network_makes_it():
    quiet(NonfiniteInputRefused(), crashed(lambda: nan(fed=False)))
