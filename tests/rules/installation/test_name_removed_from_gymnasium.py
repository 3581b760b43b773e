import pytest

from rldebug.rules.installation.name_removed_from_gymnasium import NameRemovedFromGymnasium
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("import gym\nenv = gym.wrappers.Monitor(gym.make('a'), 'videos')  # here", "note"),
        ("from gymnasium.wrappers import Monitor  # here", "error"),
        ("import gymnasium as gym\nenv = gym.wrappers.FrameStack(env, 4)  # here", "note"),
        ("import gymnasium\nenvs = gymnasium.vector.make('CartPole-v1', 4)  # here", "note"),
    ],
)
def test_fires_at_a_name_that_is_gone(code, severity):
    assert points_at(NameRemovedFromGymnasium(), code).severity == severity


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium as gym\nenv = gym.wrappers.RecordVideo(gym.make('a'), 'videos')",
        "from stable_baselines3.common.monitor import Monitor\nenv = Monitor(env)",
        "try:\n    from gymnasium.wrappers import FrameStack\nexcept ImportError:\n    FrameStack = None",
        "import gym\nenv = gym.wrappers.FrameStack(env, 4)",
        "import gymnasium as gym\nenvs = gym.make_vec('CartPole-v1', 4)",
    ],
)
def test_quiet_about_names_that_are_there(code):
    quiet(NameRemovedFromGymnasium(), text(code))
