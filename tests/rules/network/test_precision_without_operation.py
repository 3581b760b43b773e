import torch

from rldebug.rules.network.precision_without_operation import PrecisionWithoutOperation
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_half_has_no_such_operation():
    names(PrecisionWithoutOperation(), crashed(lambda: torch.linalg.svd(torch.zeros(2, 2).half())))


def test_quiet_when_integers_have_none():
    quiet(PrecisionWithoutOperation(), crashed(lambda: torch.tensor([1, 0]).softmax(-1)))
