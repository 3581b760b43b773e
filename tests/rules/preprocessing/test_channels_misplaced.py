import torch
from torch import nn

from rldebug.rules.preprocessing.channels_misplaced import ChannelsMisplaced
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_channels_come_last():
    names(ChannelsMisplaced(), crashed(lambda: nn.Sequential(nn.Conv2d(4, 8, 3))(torch.zeros(1, 20, 20, 4))))


def test_fires_when_the_channel_of_a_grey_image_is_missing():
    names(ChannelsMisplaced(), crashed(lambda: nn.Conv2d(1, 8, 3)(torch.zeros(20, 20))))


def test_quiet_when_a_convolution_further_in_refuses():
    quiet(
        ChannelsMisplaced(),
        crashed(lambda: nn.Sequential(nn.Conv2d(4, 8, 3), nn.Conv2d(9, 8, 3))(torch.zeros(1, 4, 20, 20))),
    )
