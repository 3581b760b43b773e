import pytest

from rldebug.rules.preprocessing.shift_inside_the_scale import ShiftInsideTheScale
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def scaled(x, low, high):
            return (x - low) * (2.0 / (high - low) - 1.0)  # here
        """,
        """
        class Scale:
            def observation(self, obs):
                return obs * (2 / (self.space.high - self.space.low) - 1)  # here
        """,
    ],
)
def test_fires_inside_the_parentheses(code):
    points_at(ShiftInsideTheScale(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        y = (x - low) * (2.0 / (high - low)) - 1.0
        """,
        """
        y = 2 * (x - low) / (high - low) - 1
        """,
        """
        y = x * (scale / (b - a) - 1)
        """,
        """
        y = x * (2 / n - 1)
        """,
    ],
)
def test_quiet_outside_of_them(code):
    quiet(ShiftInsideTheScale(), text(code))
