import pytest

from rldebug.rules.preprocessing.slice_ends_at_zero import SliceEndsAtZero
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def mask_goal(observation):
            observation[-2:0] = 0  # here
            return observation
        """,
        """
        import torch
        def split(batch):
            return batch[:, :-3], batch[:, -3:0]  # here
        """,
    ],
)
def test_fires_of_the_last_ones(code):
    points_at(SliceEndsAtZero(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        tail = x[-2:]
        """,
        """
        back = x[-1:0:-1]
        """,
        """
        one = x[-3:-1]
        """,
        """
        head = x[0:2]
        """,
        """
        none = x[0:0]
        """,
        """
        rest = x[-n:0]
        """,
    ],
)
def test_quiet_about_slices_that_hold_something(code):
    quiet(SliceEndsAtZero(), text(code))
