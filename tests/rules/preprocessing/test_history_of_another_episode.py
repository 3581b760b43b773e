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


SIDE = 9


class Pictures:
    """Of no library; what was just seen is stacked by the program, as many pictures as there are actions."""

    def __init__(self) -> None:
        self.draw = np.random.default_rng(0)

    def begin(self):
        self.time = 0
        return self.look()

    def look(self):
        return self.draw.integers(0, 256, (SIDE, SIDE)).astype(np.uint8)

    def play(self, action):
        self.time += 1
        return self.look(), float(action == 1), self.time >= 7


def of_pictures(*, anew: bool = True) -> None:
    torch.manual_seed(0)
    env, memory = Pictures(), []
    net = nn.Sequential(nn.Conv2d(DEEP, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(64, DEEP))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    frames = [env.begin()] * DEEP
    for step in range(160):
        stack = np.stack(frames)
        with torch.no_grad():
            values = net(torch.as_tensor(stack)[None].float() / 255.0)
        action = int(values.argmax()) if step % 3 else step % DEEP
        picture, reward, done = env.play(action)
        frames = [*frames[1:], picture]
        memory.append((stack, action, reward, np.stack(frames), done))
        if done:
            first = env.begin()
            frames = [first] * DEEP if anew else [*frames[1:], first]
        if step < 24 or step % 2:
            continue
        drawn = [memory[each] for each in np.random.default_rng(step).integers(0, len(memory), 12)]
        now, then = (torch.as_tensor(np.stack([each[at] for each in drawn])).float() / 255.0 for at in (0, 3))
        paid, over = (torch.tensor([float(each[at]) for each in drawn]) for at in (2, 4))
        with torch.no_grad():
            target = paid + 0.9 * (1 - over) * net(then).max(1).values
        chosen = net(now)[torch.arange(12), torch.tensor([each[1] for each in drawn])]
        optimizer.zero_grad()
        ((chosen - target) ** 2).mean().backward()
        optimizer.step()


def test_fires_where_a_stack_of_pictures_is_never_filled_anew() -> None:
    (finding,) = HistoryOfAnotherEpisode().check(watched(lambda: of_pictures(anew=False), overhead_budget=10.0)[1])
    assert "of the episode before" in finding.seen


def test_quiet_where_a_stack_of_pictures_is() -> None:
    assert not list(HistoryOfAnotherEpisode().check(watched(of_pictures, overhead_budget=10.0)[1]))


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
