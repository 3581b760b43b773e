from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.evidence.script import Script
from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.preprocessing.history_of_another_episode import HistoryOfAnotherEpisode
from tests.watched import watched

DEEP = 4


class Walk(gym.Env):
    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = self.np_random.normal(size=2).astype(np.float32), 0
        return self.place.copy(), {}

    def step(self, action):
        self.time += 1
        self.place = self.place + self.np_random.normal(size=2).astype(np.float32) * 0.1
        return self.place.copy(), float(action), False, self.time >= 9, {}


def program(*, anew: bool = True, flat: bool = False) -> None:
    torch.manual_seed(0)
    env = Walk()
    net = nn.Sequential(nn.Flatten(), nn.Linear(2 * DEEP, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs, _ = env.reset(seed=0)
    frames = torch.zeros(DEEP, 2) + torch.tensor(obs)
    for _ in range(10):
        stacks, actions, rewards = [], [], []
        for _ in range(30):
            stack = frames.reshape(1, -1) if flat else frames[None]
            with torch.no_grad():
                action = Categorical(logits=net(stack)).sample()
            obs, reward, terminated, truncated, _ = env.step(int(action))
            stacks.append(stack)
            actions.append(action)
            rewards.append(reward)
            if terminated or truncated:
                obs, _ = env.reset()
            frames = torch.cat([frames[1:], torch.tensor(obs)[None]])
            if (terminated or truncated) and anew:
                frames = torch.zeros(DEEP, 2) + torch.tensor(obs)
        chosen = Categorical(logits=net(torch.cat(stacks)))
        loss = -(chosen.log_prob(torch.cat(actions)) * (torch.tensor(rewards) - 0.5)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def found(**how: bool) -> list[Finding]:
    return list(HistoryOfAnotherEpisode().check(watched(lambda: program(**how))[1]))


@pytest.mark.parametrize("flat", [False, True])
def test_fires_where_the_stack_is_never_filled_anew(flat: bool) -> None:
    (finding,) = found(anew=False, flat=flat)
    assert "of the episode before" in finding.seen


def test_quiet_where_it_is_filled_with_the_first_observation() -> None:
    assert not found()


def test_quiet_without_a_history() -> None:
    with pytest.raises(NotEnough):
        list(HistoryOfAnotherEpisode().check(Script()))
