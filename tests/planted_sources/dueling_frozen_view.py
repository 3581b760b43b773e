"""Double DQN in functions; the loop over steps is one flat loop."""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


def network(size, moves):
    return nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, moves))


def choose(q, state, moves, eps):
    if random.random() < eps:
        return random.randrange(moves)
    with torch.no_grad():
        return int(q(torch.as_tensor(state)).argmax())


def improve(q, slow, adam, rows, gamma=0.99):
    s, a, r, s2, end = (torch.as_tensor(np.array(each)) for each in zip(*rows, strict=True))
    with torch.no_grad():
        best = q(s2).argmax(1, keepdim=True)
        goal = r.float() + gamma * (1 - end.float()) * slow(s2).gather(1, best).squeeze(1)
    loss = nn.functional.huber_loss(q(s).gather(1, a[:, None]).squeeze(1), goal)
    adam.zero_grad()
    loss.backward()
    adam.step()


def train(frames=100_000):
    env = gym.make("MountainCar-v0")
    moves = int(env.action_space.n)
    q, slow = network(2, moves), network(2, moves)
    slow.load_state_dict(q.state_dict())
    adam = torch.optim.Adam(q.parameters(), lr=1e-3)
    replay, frame = [], 0
    while frame < frames:
        state, _ = env.reset()
        over = False
        while not over:
            move = choose(q, state, moves, max(0.05, 1 - frame / 20_000))  # planted: observation-never-advanced
            # = move = choose(q, state, moves, max(0.05, 1 - frame / 20_000))
            following, reward, terminated, truncated, _ = env.step(move)
            replay.append((state, move, reward, following, terminated))
            over = terminated or truncated
            # + state = following
            frame += 1
            if len(replay) > 1000:
                improve(q, slow, adam, random.sample(replay, 64))
            if frame % 500 == 0:
                slow.load_state_dict(q.state_dict())


train()
