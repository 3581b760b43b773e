"""An actor-critic with a GRU that learns from whole episodes, side by side and filled up; with one fault, or none."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

GAMMA, WIDTH, EPISODES = 0.9, 12, 8


class Corridor(gym.Env):
    """A cue is shown in the first step, and asked for at the end of a corridor. Observations come back all the time."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _seen(self):
        return np.array([self.cue if self.time == 0 else 0, self.place / 2, self.place == 2], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue, self.place, self.time = int(self.np_random.choice([-1, 1])), 0, 0
        return self._seen(), {}

    def step(self, action):
        self.time += 1
        if action == 2:
            self.place = min(self.place + 1, 2)
        elif self.place == 2:
            return self._seen(), 1.0 if 2 * action - 1 == self.cue else -0.5, True, False, {}
        return self._seen(), -0.1, False, self.time >= 9, {}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.intake, self.core = nn.Linear(3, WIDTH), nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.policy, self.value = nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 1)

    def forward(self, seen, state=None):
        out, state = self.core(torch.tanh(self.intake(seen)), state)
        return self.policy(out), self.value(out).squeeze(-1), state


def _episode(env, net, fault):
    seen, _ = env.reset()
    state, rows = None, []
    while True:
        with torch.no_grad():
            scores, _, following = net(torch.tensor(seen)[None, None], state)
        state = None if fault == "state not carried" else following
        action = int(Categorical(logits=scores[0, 0]).sample())
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append((seen, action, reward))
        seen = after
        if terminated or truncated:
            with torch.no_grad():
                beyond = float(net(torch.tensor(seen)[None, None], state)[1])
            return rows, 0.0 if terminated or fault == "limit ends values" else beyond


def program(fault: str = "", rounds: int = 8) -> None:
    torch.manual_seed(0)
    env, net = Corridor(), Net()
    env.reset(seed=0)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(rounds):
        episodes = [_episode(env, net, fault) for _ in range(EPISODES)]
        longest = max(len(rows) for rows, _ in episodes)
        seen, action = torch.zeros(EPISODES, longest, 3), torch.zeros(EPISODES, longest, dtype=torch.long)
        target, mask = torch.zeros(EPISODES, longest), torch.zeros(EPISODES, longest)
        for number, (rows, total) in enumerate(episodes):
            mask[number, : len(rows) - (fault == "last step masked")] = 1.0
            for time in reversed(range(len(rows))):
                seen[number, time], action[number, time] = torch.tensor(rows[time][0]), rows[time][1]
                total = rows[time][2] + GAMMA * total
                target[number, time] = total
        scores, value, _ = net(seen)
        chosen = Categorical(logits=scores)
        advantage = (target - value).detach()
        if fault == "normalised":
            mean = (advantage * mask).sum() / mask.sum()
            advantage = (advantage - mean) / (((advantage - mean) ** 2 * mask).sum() / mask.sum()).sqrt()
        elif fault == "filler in the normalisation":
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        pushed = chosen.log_prob(action) * advantage
        wrong = (value - target) ** 2
        policy_loss = -pushed.mean() if fault == "policy learns filler" else -(pushed * mask).sum() / mask.sum()
        value_loss = wrong.mean() if fault == "critic learns filler" else (wrong * mask).sum() / mask.sum()
        loss = policy_loss + 0.5 * value_loss - 0.01 * (chosen.entropy() * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
