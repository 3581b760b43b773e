"""From a name to an environment, and what is said where that fails."""

import sys

import gymnasium as gym
import numpy as np
import pytest

from rldebug.parts.make import EnvError, make_env, maker


def test_an_unknown_id_has_close_matches():
    with pytest.raises(EnvError, match="Did you mean: 'CartPole'"):
        make_env("CartPol-v1")


def test_what_raises_while_it_is_made():
    with pytest.raises(EnvError, match=r"CartPole-v1 could not be made: TypeError: .*weight"):
        make_env("CartPole-v1", weight=3)


@pytest.mark.parametrize("kind", [gym.error.DependencyNotInstalled, ModuleNotFoundError])
def test_extras_that_are_missing(monkeypatch, kind):
    def missing(*_, **__):
        raise kind("No module named 'imageio', run `pip install it`")

    monkeypatch.setitem(sys.modules, "ale_py", None)
    monkeypatch.setattr(gym, "make", missing)
    with pytest.raises(EnvError, match=r"pip install 'rldebug\[mujoco\]'"):
        make_env("Hopper-v5")
    with pytest.raises(EnvError, match="CartPole-v1 could not be made: No module named 'imageio'"):
        make_env("CartPole-v1")
    with pytest.raises(EnvError, match=r"pip install 'rldebug\[atari\]'"):
        make_env("ALE/Pong-v5")


def test_a_module_of_ones_own_in_this_folder(tmp_path, monkeypatch):
    (tmp_path / "rooms_of_mine.py").write_text(
        "import gymnasium\ngymnasium.register('Rooms-v0', entry_point='gymnasium.envs.classic_control:CartPoleEnv')\n"
    )
    monkeypatch.chdir(tmp_path)
    env = make_env("rooms_of_mine:Rooms-v0")
    assert env.reset(seed=0)[0].shape == (4,)


def test_the_first_environment_keeps_pictures(tmp_path):
    class Screen(gym.Env):
        observation_space = gym.spaces.Box(0, 255, (4, 4), np.uint8)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.full((4, 4), 7, np.uint8), {}

        def step(self, action):
            return np.full((4, 4), 9, np.uint8), 0.0, False, False, {}

    gym.register("Screen-v0", entry_point=Screen)
    make = maker("Screen-v0", frames=2, folder=tmp_path / "frames")
    one, two = make(), make()
    for env in (one, two):
        env.reset(seed=0)
        for _ in range(4):
            env.step(0)
    del gym.registry["Screen-v0"]
    assert 1 <= len(list((tmp_path / "frames").glob("*.png"))) <= 3
