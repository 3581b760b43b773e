import time

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rldebug.probes.examine_actions import after_end, edge_actions, edges, failure, picture, ranges


class Valve(gym.Env):
    """Turn a valve; it is over when the tank is full."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    render_mode = "rgb_array"
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = spaces.Box(-2.0, 2.0, (1,), np.float32)
    most = 2.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = 0.0
        return np.array([self.level]), {}

    def step(self, action):
        self.level += float(np.clip(action[0], -self.most, self.most)) + 1.0
        return np.array([self.level]), 1.0, self.level > 10, False, {}

    def render(self):
        return np.full((4, 4, 3), int(self.level) % 256, np.uint8)


def until():
    return time.perf_counter() + 60


def test_every_discrete_action_is_an_edge():
    assert [int(each) for each in edge_actions(spaces.Discrete(3, start=-1))] == [-1, 0, 1]


def test_the_corners_of_a_box_are_edges_where_it_has_any():
    assert [each.tolist() for each in edge_actions(spaces.Box(-2.0, 4.0, (1,)))] == [[-2.0], [4.0], [1.0]]
    assert list(edge_actions(spaces.Box(-np.inf, 1.0, (1,)))) == []


def test_an_edge_that_raises_is_refused():
    class Strict(Valve):
        def step(self, action):
            if action[0] >= 2:
                raise ValueError("too far")
            return super().step(action)

    refused, tried = edges(Strict(), 0, until())
    assert tried == 3
    assert [each.call for each in refused] == ["step([2.])"]


def test_a_range_that_counts_as_a_whole_is_not_saturated():
    assert ranges(Valve(), 0, until()) == {"saturated": (), "accepted": (), "accepted_of": 1}


def test_a_clip_far_inside_of_the_range_saturates():
    class Narrow(Valve):
        most = 0.2

    (found,) = ranges(Narrow(), 0, until())["saturated"]
    assert found.share == pytest.approx(0.1)


def test_no_clip_at_all_is_obeyed():
    class Free(Valve):
        most = np.inf

    assert ranges(Free(), 0, until())["accepted"] == ("action[0] = 6",)


def test_going_on_after_the_end_is_counted():
    class Leaking(Valve):
        def step(self, action):
            obs, reward, over, late, info = super().step(action)
            self.level = 0.0 if over else self.level
            return obs, reward, over, late, info

    assert after_end(Leaking(), 0, until()).rewarded == 3
    assert after_end(Valve(), 0, until()).raised == 0


def test_pictures_are_looked_at():
    assert picture(Valve(), "rgb_array", 0, until()).misfit is None

    class Floats(Valve):
        def render(self):
            return super().render() / 255

    assert "float64" in picture(Floats(), "rgb_array", 0, until()).misfit.seen
    assert picture(Valve(), "ansi", 0, until()).misfit.part == "render_mode"


def test_a_missing_package_is_no_fault_of_the_environment():
    assert failure("render()", 0, ImportError("pygame")).installation
    assert not failure("render()", 0, ValueError("wrong")).installation
