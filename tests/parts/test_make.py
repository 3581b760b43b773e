"""From a name to an environment, and what is said where that fails."""

import sys
from types import MappingProxyType

import gymnasium as gym
import numpy as np
import pytest

from rldebug.parts.make import EnvError, make_env, maker, try_out


def test_an_unknown_id_has_close_matches():
    with pytest.raises(EnvError, match="Did you mean: 'CartPole'"):
        make_env("CartPol-v1")


def test_arguments_in_the_name():
    env = make_env("CartPole-v1?sutton_barto_reward=True&render_mode=rgb_array")
    assert env.unwrapped._sutton_barto_reward is True
    assert env.render_mode == "rgb_array"


@pytest.mark.parametrize("name", ["CartPole-v1?gravity", "CartPole-v1?=3", "CartPole-v1?a b=3"])
def test_arguments_in_the_name_that_are_none(name):
    with pytest.raises(EnvError, match="expected key=value"):
        make_env(name)


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


class Sound(gym.Env):
    observation_space = gym.spaces.Dict({"where": gym.spaces.Box(-1, 1, (2,)), "mode": gym.spaces.Discrete(3)})
    action_space = gym.spaces.Discrete(2)
    # Outside the bounds, as in many sound environments.
    seen = MappingProxyType({"where": np.full(2, 9.0, np.float32), "mode": 1})

    def reset(self, *, seed=None, options=None):
        return self.seen, {}

    def step(self, action):
        return self.seen, 0.0, False, False, {}


class FourValues(Sound):
    def step(self, action):
        return self.seen, 0.0, False, {}


class OldReset(Sound):
    def reset(self, *, seed=None, options=None):
        return self.seen


class OtherShape(Sound):
    def step(self, action):
        return {"where": np.zeros(3), "mode": 1}, 0.0, False, False, {}


class NoKey(Sound):
    def reset(self, *, seed=None, options=None):
        return {"where": np.zeros(2)}, {}


class Raises(Sound):
    def step(self, action):
        raise KeyError("speed")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (FourValues, r"step\(\) returned 4 values, as gym did before 0.26, expected \(obs, reward"),
        (OldReset, r"reset\(\) returned a mappingproxy, expected \(obs, info\)"),
        (OtherShape, r"obs\['where'\] has shape \(3,\), expected \(2,\)"),
        (
            NoKey,
            "obs is a dict of where, expected a dict of (where, mode|mode, where)",
        ),
        (Raises, r"could not be played: KeyError: 'speed' \(.*test_make.py"),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else "",
)
def test_what_breaks_the_contract_is_said_before_training(kind, text):
    with pytest.raises(EnvError, match=text):
        try_out(kind(), "mine")


def test_a_sound_environment_is_left_alone():
    try_out(Sound(), "mine")
    try_out(gym.make("CartPole-v1"), "CartPole-v1")
