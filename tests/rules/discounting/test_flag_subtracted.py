import numpy as np
import torch

from rldebug.rules.discounting.flag_subtracted import FlagSubtracted
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_flag_of_torch_is_subtracted():
    names(FlagSubtracted(), crashed(lambda: 1 - torch.zeros(3, dtype=torch.bool)))


def test_fires_when_flags_of_numpy_are_subtracted():
    names(FlagSubtracted(), crashed(lambda: np.zeros(3, bool) - np.ones(3, bool)))


def test_quiet_when_a_text_is_subtracted():
    quiet(FlagSubtracted(), crashed(lambda: 1 - "done"))
