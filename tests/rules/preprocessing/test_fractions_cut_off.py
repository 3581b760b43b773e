"""Observations that lose their fractions on the way into the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing.fractions_cut_off import FractionsCutOff
from tests.judge import fires, not_enough, quiet
from tests.programs.made import call, nodes, script

RNG = np.random.default_rng(0)


def made(change, scale: float = 1.0, picture: bool = False) -> Script:
    shape = (160, 6, 6, 4) if picture else (160, 4)
    obs = (RNG.random(shape) < 0.5).astype(np.float64)
    obs[..., 3] = RNG.random(shape[:-1]) * scale
    return script([(nodes(obs), [call(0, np.arange(160), change(obs), acting=True, match="alias")])])


@pytest.mark.parametrize("picture", [False, True])
def test_fires_where_fractions_are_cut_off(picture: bool) -> None:
    fires(FractionsCutOff(), made(np.trunc, picture=picture))


@pytest.mark.parametrize("picture", [False, True])
@pytest.mark.parametrize("change", [lambda obs: obs, lambda obs: obs * 255, lambda obs: np.trunc(obs * 255) / 255])
def test_quiet_where_they_are_kept(change, picture: bool) -> None:
    quiet(FractionsCutOff(), made(change, picture=picture))


def test_quiet_where_a_wider_range_is_cut_into_cells() -> None:
    quiet(FractionsCutOff(), made(np.trunc, scale=9.0))


def test_declines_where_observations_are_whole() -> None:
    not_enough(FractionsCutOff(), made(np.trunc, scale=0.0))


def program(cast: bool) -> None:
    import gymnasium as gym

    class Tank(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (3,), np.float32)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.level, self.t = float(self.np_random.random()), 0
            return self._look(), {}

        def _look(self):
            return np.array([self.level, float(self.level > 0.5), self.t / 20], np.float32)

        def step(self, action):
            self.level = float(np.clip(self.level + 0.1 * (2 * action - 1), 0, 1))
            self.t += 1
            return self._look(), -abs(self.level - 0.5), False, self.t >= 20, {}

    torch.manual_seed(0)
    env, net = Tank(), torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for episode in range(30):
        obs, _ = env.reset(seed=episode)
        logps, rewards, over = [], [], False
        while not over:
            given = torch.from_numpy(obs)[None]
            policy = torch.distributions.Categorical(logits=net(given.to(torch.uint8).float() if cast else given))
            action = policy.sample()
            logps.append(policy.log_prob(action))
            obs, reward, _, over, _ = env.step(int(action))
            rewards.append(reward)
        loss = -(torch.cat(logps) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("cast", [True, False])
def test_a_program_is_accused_of_the_cast_alone(cast: bool) -> None:
    from tests.programs.data import found
    from tests.watched import watched

    assert bool(found(FractionsCutOff(), watched(lambda: program(cast))[1])) == cast
