import pytest

from rldebug.rules.preprocessing.image_axes_mirrored import ImageAxesMirrored
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        import torch.nn as nn
        class Eyes(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = nn.Sequential(nn.Conv2d(3, 16, 8, 4), nn.ReLU(), nn.Flatten())
            def forward(self, x):
                return self.seen(x.transpose(1, 3) / 255.0)  # here
        """,
        """
        import gymnasium as gym
        import numpy as np
        from torch import nn
        net = nn.Sequential(nn.Conv2d(3, 16, 8, 4), nn.ReLU())
        class ToTorch(gym.ObservationWrapper):
            def observation(self, frame):
                return np.transpose(frame, (2, 1, 0))  # here
        """,
    ],
)
def test_fires_on_the_way_into_a_convolution(code):
    points_at(ImageAxesMirrored(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch.nn as nn
        conv = nn.Conv2d(3, 16, 8, 4)
        def forward(x):
            return conv(x.permute(0, 3, 1, 2))
        """,
        """
        import torch.nn as nn
        conv = nn.Conv1d(3, 16, 8, 4)
        def forward(x):
            return conv(x.transpose(1, 2))
        """,
        """
        def attend(q, k):
            return q @ k.transpose(1, 3)
        """,
        """
        import torch.nn as nn
        conv = nn.Conv2d(3, 16, 8, 4)
        def attention(self, scores):
            return scores.transpose(1, 3)
        """,
    ],
)
def test_quiet_on_other_axes(code):
    quiet(ImageAxesMirrored(), text(code))
