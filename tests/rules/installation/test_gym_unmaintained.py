import pytest

from rldebug.rules.installation.gym_unmaintained import GymUnmaintained
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    ["import gym  # here\nenv = gym.make('a')", "import torch\nfrom gym.wrappers import RecordVideo  # here"],
)
def test_fires_at_gym(code):
    points_at(GymUnmaintained(), code)


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium as gym",
        "try:\n    import gymnasium as gym\nexcept ImportError:\n    import gym",
        "try:\n    import gym\nexcept ImportError:\n    gym = None",
        "import gym_minigrid",
        "from .gym import spaces",
    ],
)
def test_quiet_about_gymnasium(code):
    quiet(GymUnmaintained(), text(code))
