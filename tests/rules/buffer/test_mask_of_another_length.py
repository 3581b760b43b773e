import numpy as np
import torch

from rldebug.rules.buffer.mask_of_another_length import MaskOfAnotherLength
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_mask_is_shorter():
    names(MaskOfAnotherLength(), crashed(lambda: torch.zeros(5)[torch.ones(4, dtype=torch.bool)]))


def test_fires_when_a_mask_of_numpy_is_shorter():
    names(MaskOfAnotherLength(), crashed(lambda: np.zeros(5)[np.ones(4, bool)]))


def test_quiet_when_the_mask_is_of_floats():
    quiet(MaskOfAnotherLength(), crashed(lambda: torch.zeros(5)[torch.ones(5)]))
