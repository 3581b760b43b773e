import numpy as np
import torch
from torch.nn import functional as F

from rldebug.rules.discounting.summed_into_integers import SummedIntoIntegers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_return_is_of_integers():
    def program():
        returns = torch.tensor([1, 0])
        returns += 0.99

    names(SummedIntoIntegers(), crashed(program))


def test_fires_when_bytes_are_scaled_in_place():
    def program():
        frame = np.zeros(3, np.uint8)
        frame /= 255

    names(SummedIntoIntegers(), crashed(program))


def test_quiet_when_a_loss_is_given_integers():
    quiet(
        SummedIntoIntegers(),
        crashed(lambda: F.binary_cross_entropy_with_logits(torch.zeros(3), torch.ones(3, dtype=torch.int64))),
    )
