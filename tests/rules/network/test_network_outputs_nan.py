import numpy as np
import torch
from torch import nn

from rldebug.rules.network.network_outputs_nan import NetworkOutputsNan
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def nan(weights=True):
    policy = nn.Linear(3, 2)
    if weights:
        with torch.no_grad():
            policy.weight.fill_(float("nan"))
    obs = np.full((5, 3), 0.0 if weights else np.nan, dtype=np.float32)
    mean = policy(torch.as_tensor(obs))
    return torch.distributions.Normal(mean, torch.ones(2))


def test_fires_when_the_weights_are_nan_after_one_update():
    assert "1 of 2 weights of Linear are NaN" in names(NetworkOutputsNan(), crashed(nan, updates=1)).seen


def test_quiet_when_it_is_the_observation():
    quiet(NetworkOutputsNan(), crashed(lambda: nan(weights=False)))
