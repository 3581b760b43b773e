import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.value_loss.target_dtype_differs import TargetDtypeDiffers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_returns_are_float64():
    def program():
        value = nn.Linear(3, 1)(torch.zeros(5, 3)).squeeze(-1)
        target = torch.as_tensor(np.ones(5))
        loss = F.huber_loss(value, target)
        loss.backward()

    names(TargetDtypeDiffers(), crashed(program))


def test_quiet_when_the_network_is_fed_float64():
    quiet(TargetDtypeDiffers(), crashed(lambda: nn.Linear(3, 1)(torch.zeros(5, 3, dtype=torch.float64))))
