import warnings

import torch
from torch.nn import functional as F

from rldebug.rules.action_sampling.softmax_without_axis import SoftmaxWithoutAxis
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_no_axis_is_named():
    def program():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return F.softmax(torch.zeros(3))

    names(SoftmaxWithoutAxis(), crashed(program))


def test_quiet_when_the_axis_is_missing():
    quiet(SoftmaxWithoutAxis(), crashed(lambda: F.softmax(torch.zeros(3), dim=1)))
