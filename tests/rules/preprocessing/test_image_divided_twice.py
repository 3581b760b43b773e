import pytest

from rldebug.rules.preprocessing.image_divided_twice import ImageDividedTwice
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
                self.conv = nn.Conv2d(4, 16, 8, 4)
            def forward(self, x):
                return self.conv(x / 255.0)  # here
        eyes = Eyes()
        def act(frames):
            x = torch.as_tensor(frames).float() / 255
            return eyes(x.unsqueeze(0))
        """,
        """
        import numpy as np
        def prepared(frame):
            return np.asarray(frame, dtype=np.float32) / 255.0
        def batch(frames):
            x = np.stack([prepared(frame) for frame in frames])
            return x
        def store(frame):
            small = prepared(frame)
            return small / 255.0  # here
        """,
    ],
)
def test_fires_where_both_sides_scale(code):
    points_at(ImageDividedTwice(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        import torch.nn as nn
        class Eyes(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(4, 16, 8, 4)
            def forward(self, x):
                return self.conv(x / 255.0)
        eyes = Eyes()
        def act(frames):
            return eyes(torch.as_tensor(frames))
        """,
        """
        x = frame / 255.0
        y = other / 255.0
        """,
        """
        def loop(frames):
            for frame in frames:
                x = frame / 255.0
                use(x)
        """,
        """
        x = frame / 255.0
        z = (x * 255.0) / 255.0
        """,
    ],
)
def test_quiet_where_one_does(code):
    quiet(ImageDividedTwice(), text(code))
