import gymnasium as gym

from rldebug.rules.evaluation.render_mode_missing import RenderModeMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_recorder_gets_no_pictures():
    def program():
        env = gym.make("CartPole-v1")
        gym.wrappers.RecordVideo(env, "videos")

    assert "gym.make('CartPole-v1')" in names(RenderModeMissing(), crashed(program)).seen


def test_quiet_when_it_was_never_reset():
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    quiet(RenderModeMissing(), crashed(env.render))
