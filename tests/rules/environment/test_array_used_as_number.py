import numpy as np
import torch

from rldebug.rules.environment.array_used_as_number import ArrayUsedAsNumber
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_item_is_asked_of_several_actions():
    names(ArrayUsedAsNumber(), crashed(lambda: torch.zeros(4).item()))


def test_fires_when_an_array_of_rewards_is_one_float():
    names(ArrayUsedAsNumber(), crashed(lambda: float(np.zeros(4))))


def test_quiet_when_it_is_a_condition():
    quiet(ArrayUsedAsNumber(), crashed(lambda: bool(torch.zeros(4))))
