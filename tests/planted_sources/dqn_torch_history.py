"""DQN whose agent keeps the last four readings of each sensor itself."""

import random
from collections import deque

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn


class Memory:
    def __init__(self, depth, width):
        self.rows = torch.zeros(depth, width)

    def begin(self, reading):
        self.rows[:] = torch.as_tensor(reading)
        return self.rows.flatten().clone()

    def push(self, reading):
        self.rows[:-1] = self.rows[1:]  # planted: shifted-onto-itself
        # = self.rows[:-1] = self.rows[1:].clone()
        self.rows[-1] = torch.as_tensor(reading)
        return self.rows.flatten().clone()


env = gym.make("Acrobot-v1")
memory = Memory(4, env.observation_space.shape[0])
q = nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, env.action_space.n))
slow = nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, env.action_space.n))
slow.load_state_dict(q.state_dict())
adam = torch.optim.Adam(q.parameters(), lr=5e-4)
replay = deque(maxlen=50_000)

reading, _ = env.reset(seed=2)
x = memory.begin(reading)
for tick in range(200_000):
    with torch.no_grad():
        greedy = int(q(x).argmax())
    move = env.action_space.sample() if random.random() < 0.1 else greedy
    reading, reward, terminated, truncated, _ = env.step(move)
    y = memory.push(reading)
    replay.append((x, torch.tensor(move), torch.tensor(float(reward)), y, torch.tensor(float(terminated))))
    x = y
    if terminated or truncated:
        reading, _ = env.reset()
        x = memory.begin(reading)
    if len(replay) >= 1000:
        xs, moves, rewards, ys, ends = (torch.stack(each) for each in zip(*random.sample(replay, 64), strict=True))
        with torch.no_grad():
            goal = rewards + 0.99 * (1 - ends) * slow(ys).max(1).values
        loss = F.smooth_l1_loss(q(xs).gather(1, moves[:, None]).squeeze(1), goal)
        adam.zero_grad()
        loss.backward()
        adam.step()
    if tick % 1000 == 0:
        slow.load_state_dict(q.state_dict())
