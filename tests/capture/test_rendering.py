"""A picture of an environment that was made without a render mode; and nothing of it is changed."""

from __future__ import annotations

import copy
import random

import gymnasium as gym
import numpy as np
import pytest
import torch

from rldebug.capture.rendering import CannotRenderError, Rendering
from tests.bystander import rng_state
from tests.capture.image_program import Grey, Pictures


def test_a_picture_and_the_environment_as_it_was():
    env = Grey(Pictures())
    env.reset(seed=3)
    before, generator, states = dict(vars(env.unwrapped)), env.unwrapped.np_random.bit_generator.state, rng_state()
    picture = Rendering(env).picture()
    assert np.array_equal(picture, env.unwrapped.frame())
    assert vars(env.unwrapped) == before
    assert env.unwrapped.np_random.bit_generator.state == generator
    assert rng_state() == states


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "MountainCar-v0", "Acrobot-v1", "FrozenLake-v1"])
def test_environments_of_gymnasium_play_on_as_without(name):
    def play(draw):
        env = gym.make(name)
        env.action_space.seed(0)
        obs, _ = env.reset(seed=1)
        rendering, seen = Rendering(env), []
        for step in range(12):
            obs, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            seen.append((np.asarray(obs).tolist(), reward, terminated))
            if draw:
                picture = rendering.picture()
                assert picture.dtype == np.uint8
                assert picture.std() > 0
            if terminated or truncated:
                env.reset(seed=step)
        copy.deepcopy(env.unwrapped)  # no surface of pygame lies in it
        return seen, env.unwrapped.np_random.bit_generator.state, env.unwrapped.render_mode

    assert play(True) == play(False)


def test_what_the_program_has_drawn_itself_stays():
    class Own(Pictures):
        def render(self):
            self.surface = getattr(self, "surface", 0) + 1
            return self.frame()

    env = Own()
    env.reset(seed=0)
    rendering = Rendering(env)
    rendering.picture()
    assert not hasattr(env, "surface")
    env.surface = 10
    rendering.picture()
    assert env.surface == 10


def test_of_a_vector_the_first():
    envs = gym.vector.SyncVectorEnv([lambda: Grey(Pictures())] * 2)
    envs.reset(seed=5)
    assert np.array_equal(Rendering(envs).picture(), envs.envs[0].unwrapped.frame())


def given(result, **attributes):
    class Env(gym.Env):
        metadata = attributes.pop("metadata", {"render_modes": ["rgb_array"]})

        def render(self):
            return result() if callable(result) else result

    env = Env()
    vars(env).update(attributes)
    return env


def missing():
    raise ImportError("pygame is not installed, run `pip install gymnasium[classic-control]`")


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (given(None), "gave nothing"),
        (given(np.zeros((3, 3))), "gave float64"),
        (given(np.zeros((3, 3, 7), dtype=np.uint8)), r"shape \(3, 3, 7\)"),
        (given(missing), "raised ImportError: pygame is not installed, run `pip install"),
        (given(None, render_mode="human"), "shows itself"),
        (given(None, metadata={"render_modes": ["ansi"]}), "renders as ansi, and not as rgb_array"),
        (given(None, mujoco_renderer=object()), "MUJOCO_GL=egl"),
    ],
)
def test_why_it_cannot_be(env, says, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CannotRenderError, match=says):
        Rendering(env).picture()
    assert vars(env).get("render_mode") in (None, "human")


def test_environments_in_other_processes_cannot():
    class AsyncVectorEnv(gym.vector.VectorEnv):
        num_envs = 2

    with pytest.raises(CannotRenderError, match="in processes of their own"):
        Rendering(AsyncVectorEnv())


def test_other_forms_of_a_picture():
    grey = np.full((20, 30), 9, dtype=np.uint8)
    assert Rendering(given(grey)).picture().shape == (20, 30)
    assert Rendering(given(grey[:, :, None])).picture().shape == (20, 30)
    assert Rendering(given(np.stack([grey] * 4, axis=2))).picture().shape == (20, 30, 3)
    assert Rendering(given([np.stack([grey] * 3, axis=2)])).picture().shape == (20, 30, 3)
    huge = Rendering(given(np.zeros((4000, 5000, 3), dtype=np.uint8))).picture()
    assert huge.shape[0] * huge.shape[1] <= 1 << 21

    class Old:
        metadata = {"render.modes": ["human", "rgb_array"], "video.frames_per_second": 50}  # noqa: RUF012

        def render(self, mode="human"):
            assert mode == "rgb_array"
            return grey

    assert Rendering(Old()).picture().shape == (20, 30)
    assert Rendering(Old()).fps == 50


def test_a_picture_is_a_copy():
    buffer = np.zeros((20, 20, 3), dtype=np.uint8)
    picture = Rendering(given(buffer)).picture()
    buffer[:] = 7
    assert not picture.any()


def test_generators_are_set_only_where_something_was_drawn(monkeypatch):
    """Who seeds them is noted as something that the program did."""
    put = []
    monkeypatch.setattr(random, "setstate", put.append)
    monkeypatch.setattr(np.random, "set_state", put.append)
    monkeypatch.setattr(torch, "set_rng_state", put.append)
    Rendering(given(np.zeros((20, 20, 3), dtype=np.uint8))).picture()
    assert not put
    Rendering(given(lambda: np.full((20, 20, 3), int(random.random()), dtype=np.uint8))).picture()
    assert len(put) == 1
