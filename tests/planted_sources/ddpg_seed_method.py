"""DDPG whose training function seeds everything first."""

import random
from copy import deepcopy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


def mlp(inputs, outputs, last):
    return nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, outputs), last)


def ddpg(name="Pendulum-v1", seed=0, steps=60_000, gamma=0.99, rate=0.005):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make(name)
    env.seed(seed)  # planted: seed-method-gone
    # = env.action_space.seed(seed)
    size, width = env.observation_space.shape[0], env.action_space.shape[0]
    bound = float(env.action_space.high[0])
    actor, critic = mlp(size, width, nn.Tanh()), mlp(size + width, 1, nn.Identity())
    slow_actor, slow_critic = deepcopy(actor), deepcopy(critic)
    of_actor = torch.optim.Adam(actor.parameters(), lr=1e-4)
    of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
    memory = []
    seen, _ = env.reset(seed=seed)
    for step in range(steps):
        with torch.no_grad():
            move = actor(torch.as_tensor(seen)).numpy()
        move = np.clip(move + 0.1 * np.random.randn(width), -1, 1).astype(np.float32)
        after, reward, terminated, truncated, _ = env.step(bound * move)
        memory.append((seen, move, np.float32(reward), after, np.float32(terminated)))
        seen = env.reset()[0] if terminated or truncated else after
        if step < 1000:
            continue
        s, a, r, s2, end = (torch.as_tensor(np.stack(each)) for each in zip(*random.sample(memory, 128), strict=True))
        with torch.no_grad():
            ahead = slow_critic(torch.cat([s2, slow_actor(s2)], 1)).squeeze(1)
            goal = r + gamma * (1 - end) * ahead
        loss = nn.functional.mse_loss(critic(torch.cat([s, a], 1)).squeeze(1), goal)
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        gain = critic(torch.cat([s, actor(s)], 1)).mean()
        of_actor.zero_grad()
        (-gain).backward()
        of_actor.step()
        with torch.no_grad():
            for fast, slow in ((actor, slow_actor), (critic, slow_critic)):
                for p, q in zip(fast.parameters(), slow.parameters(), strict=True):
                    q.lerp_(p, rate)


ddpg()
