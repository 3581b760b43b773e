import numpy as np
import torch

from rldebug.rules.preprocessing.axis_missing import AxisMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_one_observation_has_no_batch():
    names(AxisMissing(), crashed(lambda: torch.zeros(3).softmax(1)))


def test_fires_when_an_array_has_fewer_axes():
    names(AxisMissing(), crashed(lambda: np.zeros(3)[:, 0]))


def test_quiet_when_a_row_is_beyond_the_end():
    quiet(AxisMissing(), crashed(lambda: np.zeros((3, 2))[7]))
