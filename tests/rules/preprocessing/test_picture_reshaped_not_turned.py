from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.evidence.script import Event, Script
from rldebug.rules.preprocessing.picture_reshaped_not_turned import PictureReshapedNotTurned
from tests.judge import fires, not_enough, quiet
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(match: str, picture: tuple[int, ...] = (9, 8, 3), layer: str = "Conv2d") -> Script:
    obs = RNG.normal(size=(16, *picture))
    given = np.moveaxis(obs, -1, 1)
    calls: list[Event] = [call(each, np.arange(16), given, match=match) for each in range(6)]
    found = script([(nodes(obs), calls)], [{"shape": list(picture)}])
    found.things["module"]["net"]["layers"] = {layer: 1, "Linear": 1}  # type: ignore[index]
    return found


@pytest.mark.parametrize("match", ["raw", "scaled"])
def test_fires_where_the_numbers_keep_their_order(match: str) -> None:
    assert "(9, 8, 3)" in fires(PictureReshapedNotTurned(), made(match)).seen


@pytest.mark.parametrize("match", ["channels-first", "alias", "none"])
def test_quiet_where_axes_were_moved_or_it_is_not_known(match: str) -> None:
    quiet(PictureReshapedNotTurned(), made(match))


@pytest.mark.parametrize("picture", [(9, 8, 1), (3, 9, 8), (8, 8, 8)])
def test_declines_where_both_are_the_same_or_channels_come_first(picture: tuple[int, ...]) -> None:
    not_enough(PictureReshapedNotTurned(), made("raw", picture))


def test_declines_where_nothing_looks_at_neighbours() -> None:
    not_enough(PictureReshapedNotTurned(), made("raw", layer="ReLU"))


class Dot(gym.Env):
    """A dot on a picture with its channels last."""

    observation_space = gym.spaces.Box(0, 1, (6, 7, 2), np.float32)
    action_space = gym.spaces.Discrete(2)

    def _look(self):
        picture = self.np_random.random((6, 7, 2)).astype(np.float32) * 0.1
        picture[self.at, 3, 0] = 1.0
        return picture

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.left = int(self.np_random.integers(6)), 10
        return self._look(), {}

    def step(self, action):
        self.at, self.left = (self.at + int(action)) % 6, self.left - 1
        return self._look(), float(self.at == 0), False, self.left == 0, {}


def program(turned: bool) -> None:
    torch.manual_seed(0)
    env = Dot()
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(80, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)

    def ready(obs):
        obs = torch.as_tensor(np.asarray(obs))
        return obs.permute(0, 3, 1, 2) if turned else obs.reshape(len(obs), 2, 6, 7)

    obs, _ = env.reset(seed=0)
    for _ in range(6):
        seen, acts, rewards = [], [], []
        for _ in range(12):
            with torch.no_grad():
                act = Categorical(logits=net(ready(obs[None]))).sample()
            seen.append(obs)
            acts.append(act)
            obs, reward, ended, cut, _ = env.step(int(act))
            rewards.append(reward)
            if ended or cut:
                obs, _ = env.reset()
        dist = Categorical(logits=net(ready(seen)))
        loss = -(dist.log_prob(torch.cat(acts)) * torch.tensor(rewards)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def test_fires_on_a_program_that_does_so() -> None:
    fires(PictureReshapedNotTurned(), watched(lambda: program(False))[1])


def test_quiet_on_the_program_that_turns_them() -> None:
    quiet(PictureReshapedNotTurned(), watched(lambda: program(True))[1])


def inside(axes: list[str]) -> Script:
    """A network is given pictures as they came, and moves their axes, or not, before its first layer."""
    found = made("raw", layer="Linear")
    calls = [each for each in found.audits[0].events if each.kind == "call"]
    for event, how in zip(calls, axes, strict=True):
        event.detail["axes"] = how  # type: ignore[index]
        event.detail["inputs"][0]["shape"] = [16, 9, 8, 3]
    return found


def test_fires_where_the_network_itself_reshapes() -> None:
    assert "(3, 9, 8)" in fires(PictureReshapedNotTurned(), inside(["kept"] * 6)).seen


@pytest.mark.parametrize("axes", [["moved"] * 6, ["kept"] * 5 + ["moved"]])
def test_declines_where_the_network_moves_axes(axes: list[str]) -> None:
    not_enough(PictureReshapedNotTurned(), inside(axes))
