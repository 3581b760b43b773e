import gymnasium as gym

from rldebug.rules.installation.display_missing import DisplayMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_pygame_finds_no_screen():
    names(DisplayMissing(), crashed(saying(RuntimeError("No available video device"))))


def test_fires_when_mujoco_finds_no_opengl():
    text = "gladLoadGL error"
    assert "MUJOCO_GL" in names(DisplayMissing(), crashed(saying(RuntimeError(text)))).help


def test_quiet_when_the_render_mode_is_missing():
    quiet(DisplayMissing(), crashed(lambda: gym.wrappers.RecordVideo(gym.make("CartPole-v1"), "videos")))
