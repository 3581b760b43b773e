from __future__ import annotations

from collections import deque

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing import frames_all_alike as module
from rldebug.rules.preprocessing.frames_all_alike import FramesAllAlike
from tests.judge import fires, not_enough, quiet
from tests.programs.made import nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "training_streams", lambda script: script.streams)


def made(rows: np.ndarray, **stream: object) -> Script:
    return script([(nodes(rows), ())], [{"facts": {"wrappers": ["Trend"]}, "name": "Tank", **stream}])


def stacked(length: int, parts: int, alike: bool) -> np.ndarray:
    newest = RNG.normal(size=(length, 3))
    return np.concatenate([newest if alike else np.roll(newest, each, axis=0) for each in range(parts)], axis=1)


@pytest.mark.parametrize("parts", [2, 4])
def test_fires_where_all_parts_are_equal(parts: int) -> None:
    assert f"{parts} equal parts" in fires(FramesAllAlike(), made(stacked(200, parts, True))).seen


def test_quiet_where_parts_are_of_several_moments() -> None:
    quiet(FramesAllAlike(), made(stacked(200, 2, False)))


def test_quiet_where_nothing_moves() -> None:
    quiet(FramesAllAlike(), made(np.ones((200, 6))))


def test_quiet_where_single_numbers_are_equal() -> None:
    one = RNG.normal(size=(200, 1))
    quiet(FramesAllAlike(), made(np.concatenate([one, one], axis=1)))


def test_declines_where_there_is_no_wrapper_or_little_was_seen() -> None:
    not_enough(FramesAllAlike(), made(stacked(200, 2, True), facts={"wrappers": []}))
    not_enough(FramesAllAlike(), made(stacked(50, 2, True)))


def pictures(length: int, equal: int) -> Script:
    frames = {"length": length, "looked": 300, "equal": equal, "moved": 0, "begun": 5, "begun_equal": 5, "carried": 0}
    return made(np.zeros((3, 200)), frames=frames, obs={"wide": True, "repeated": 0.0, "blank": 0.0})


def test_of_pictures_by_what_was_counted() -> None:
    fires(FramesAllAlike(), pictures(2, 300))
    quiet(FramesAllAlike(), pictures(2, 20))
    not_enough(FramesAllAlike(), pictures(3, 300))  # colours of a grey picture


class Points(gym.Env):
    """Two numbers that move; hands out one array, or a copy of it."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, copies: bool) -> None:
        self.copies, self.array = copies, np.zeros(2, np.float32)

    def _look(self):
        return self.array.copy() if self.copies else self.array

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.array[:] = self.np_random.normal(size=2)
        self.left = 15
        return self._look(), {}

    def step(self, action):
        self.array += 0.1 * (2 * int(action) - 1) + 0.1 * self.np_random.normal(size=2).astype(np.float32)
        self.left -= 1
        return self._look(), float(-abs(self.array).sum()), False, self.left == 0, {}


class Last(gym.Wrapper):
    def __init__(self, env) -> None:
        super().__init__(env)
        self.kept: deque = deque(maxlen=2)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def reset(self, **options):
        obs, info = self.env.reset(**options)
        self.kept.extend([obs, obs])
        return np.concatenate(self.kept), info

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.kept.append(obs)
        return (np.concatenate(self.kept), *rest)


def program(copies: bool) -> None:
    torch.manual_seed(0)
    env, net = Last(Points(copies)), torch.nn.Linear(4, 2)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    obs, _ = env.reset(seed=0)
    for _ in range(8):
        logps, rewards = [], []
        for _ in range(30):
            dist = Categorical(logits=net(torch.as_tensor(obs)))
            act = dist.sample()
            logps.append(dist.log_prob(act))
            obs, reward, ended, cut, _ = env.step(int(act))
            rewards.append(reward)
            if ended or cut:
                obs, _ = env.reset()
        opt.zero_grad()
        (-(torch.stack(logps) * torch.tensor(rewards)).mean()).backward()
        opt.step()


def test_fires_on_a_program_whose_environment_hands_out_one_array() -> None:
    fires(FramesAllAlike(), watched(lambda: program(False))[1])


def test_quiet_on_the_program_with_copies() -> None:
    quiet(FramesAllAlike(), watched(lambda: program(True))[1])
