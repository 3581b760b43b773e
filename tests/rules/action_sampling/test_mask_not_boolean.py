import torch

from rldebug.rules.action_sampling.mask_not_boolean import MaskNotBoolean
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_mask_is_of_floats():
    names(MaskNotBoolean(), crashed(lambda: torch.zeros(2, 3).masked_fill(torch.ones(2, 3), -1e9)))


def test_fires_when_the_filling_does_not_fit():
    names(MaskNotBoolean(), crashed(lambda: torch.zeros(3).half().masked_fill(torch.ones(3).bool(), -1e9)))


def test_quiet_when_the_mask_has_another_shape():
    quiet(MaskNotBoolean(), crashed(lambda: torch.zeros(3).masked_fill(torch.ones(2).bool(), -1e9)))
