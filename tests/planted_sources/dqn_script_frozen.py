"""DQN as one script, for a course."""

import copy
import random

import gymnasium as gym
import torch
import torch.nn as nn

env = gym.make("MountainCar-v0")
q = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 3))
q_before = copy.deepcopy(q)  # planted: target-never-synchronised
#= q_before = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = []
eps = 1.0

for episode in range(1000):
    s, _ = env.reset(seed=episode)
    over = False
    while not over:
        if random.random() < eps:
            a = env.action_space.sample()
        else:
            with torch.no_grad():
                a = q(torch.tensor(s)).argmax().item()
        s2, r, terminated, truncated, _ = env.step(a)
        memory.append((s, a, r, s2, terminated))
        s = s2
        over = terminated or truncated
        if len(memory) < 1000:
            continue
        batch = random.sample(memory, 64)
        bs = torch.stack([torch.tensor(row[0]) for row in batch])
        ba = torch.tensor([row[1] for row in batch])
        br = torch.tensor([row[2] for row in batch], dtype=torch.float32)
        bs2 = torch.stack([torch.tensor(row[3]) for row in batch])
        bt = torch.tensor([row[4] for row in batch], dtype=torch.float32)
        with torch.no_grad():
            y = br + 0.99 * (1 - bt) * q_before(bs2).max(1)[0]
        loss = nn.functional.mse_loss(q(bs).gather(1, ba[:, None]).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    #+ if episode % 5 == 0:
    #+     q_before.load_state_dict(q.state_dict())
    eps = max(0.05, eps * 0.99)
