import torch
from torch import nn

from rldebug.rules.preprocessing.image_smaller_than_kernel import ImageSmallerThanKernel
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_image_is_small():
    names(ImageSmallerThanKernel(), crashed(lambda: nn.Conv2d(4, 8, 8)(torch.zeros(1, 4, 5, 5))))


def test_fires_when_nothing_is_left_to_pool():
    names(ImageSmallerThanKernel(), crashed(lambda: nn.MaxPool2d(4)(torch.zeros(1, 4, 2, 2))))


def test_quiet_when_the_channels_come_last():
    quiet(ImageSmallerThanKernel(), crashed(lambda: nn.Conv2d(4, 8, 3)(torch.zeros(1, 5, 5, 4))))
