import time

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rldebug.probes.examine_layers import examine_layers


class Screen(gym.Env):
    """A picture that changes, and rewards of all sizes."""

    observation_space = spaces.Box(0, 255, (12, 12, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return self.np_random.integers(0, 256, (12, 12, 3)).astype(np.uint8)

    def step(self, action):
        self.steps += 1
        return self._obs(), float(self.np_random.normal(0, 5)), self.steps == 40, False, {}


class Grey(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0, 255, env.observation_space.shape[:2], np.uint8)

    def observation(self, obs):
        return obs.mean(axis=2).astype(np.uint8)


class Half(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0, 255, (6, 6, 3), np.uint8)

    def observation(self, obs):
        return obs[::2, ::2]


class Unit(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0.0, 1.0, env.observation_space.shape, np.float32)

    def observation(self, obs):
        return (obs / 255).astype(np.float32)


class Undeclared(gym.ObservationWrapper):
    def observation(self, obs):
        return (obs / 255).astype(np.float32)


class Sign(gym.Wrapper):
    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, float(np.sign(reward)), terminated, truncated, info


class Twice(gym.Wrapper):
    def step(self, action):
        self.env.step(action)
        return self.env.step(action)


class Pairs(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0, 255, (2, *env.observation_space.shape), np.uint8)

    def reset(self, **given):
        self.last, info = self.env.reset(**given)
        return np.stack([self.last, self.last]), info

    def step(self, action):
        obs, *rest = self.env.step(action)
        pair, self.last = np.stack([self.last, obs]), obs
        return pair, *rest


def layers(env):
    return examine_layers(env, seed=0, deadline=time.perf_counter() + 60)


@pytest.mark.parametrize(
    ("wrapper", "role"),
    [
        pytest.param(Grey, "makes grey", id="grey"),
        pytest.param(Half, "resizes", id="half"),
        pytest.param(Unit, "scales observations", id="unit"),
        pytest.param(Sign, "clips rewards", id="sign"),
        pytest.param(Twice, "skips frames", id="twice"),
        pytest.param(Pairs, "stacks frames", id="pairs"),
    ],
)
def test_what_a_wrapper_does_is_read_off_what_goes_in_and_comes_out(wrapper, role):
    found = layers(wrapper(Screen()))
    assert found[0].roles == {role}
    assert found[1].roles == frozenset()


def test_a_wrapper_that_does_nothing_has_no_role():
    assert layers(gym.Wrapper(Screen()))[0].roles == frozenset()


def test_the_layer_whose_space_does_not_fit_is_the_one():
    outer, wrong, inner = layers(gym.Wrapper(Undeclared(Screen())))
    assert outer.misfit is not None
    assert wrong.misfit is not None
    assert inner.misfit is None


def test_a_reset_without_a_seed_is_seen():
    class Forgetful(gym.Wrapper):
        def reset(self):
            return self.env.reset()

    assert [each.takes_seed for each in layers(Forgetful(Screen()))] == [False, True]


def test_where_a_class_is_written_is_told():
    found = layers(Grey(Screen()))[0]
    assert found.where.file.endswith("test_examine_layers.py")
    assert not found.known
