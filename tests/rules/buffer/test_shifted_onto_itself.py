import pytest

from rldebug.rules.buffer.shifted_onto_itself import ShiftedOntoItself
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        class History:
            def __init__(self, length, width):
                self.frames = torch.zeros(length, width)
            def push(self, frame):
                self.frames[:-1] = self.frames[1:]  # here
                self.frames[-1] = frame
        """,
        """
        import torch
        stack = torch.zeros(8, 4, 84, 84)
        def newest(frame, k=1):
            stack[:, 1:] = stack[:, :-1]  # here
            stack[:, 0] = frame
        """,
    ],
)
def test_fires_where_both_sides_overlap(code):
    points_at(ShiftedOntoItself(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        x = torch.zeros(5)
        x[:-1] = x[1:].clone()
        """,
        """
        import numpy as np
        x = np.zeros(5)
        x[:-1] = x[1:]
        """,
        """
        import torch
        x = torch.zeros(5)
        x[0] = x[-1]
        """,
        """
        import torch
        x, y = torch.zeros(5), torch.ones(5)
        x[:-1] = y[1:]
        """,
        """
        history = []
        history[:-1] = history[1:]
        """,
        """
        import torch
        x = torch.zeros(2, 5)
        x[0] = x[1]
        """,
    ],
)
def test_quiet_where_nothing_overlaps_or_is_copied(code):
    quiet(ShiftedOntoItself(), text(code))
