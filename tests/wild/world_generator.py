"""REINFORCE in a world that is a generator, sent actions. The text is marked as that of a program that is run."""

from __future__ import annotations

from tests.marked import run

FAULTS = {"discount-the-wrong-way": "DIS307"}
CHANGES = {
    "discount-the-wrong-way": ("G = r + GAMMA * G", "G = r + G / GAMMA"),
}
TEXT = """
import numpy as np
import torch
from torch import nn


def world(rng):
    while True:
        angle = rng.uniform(-np.pi, np.pi)
        speed = 0.0
        action = yield np.array([np.cos(angle), np.sin(angle), speed], dtype=np.float32), 0.0, False
        for t in range(30):
            speed = 0.9 * speed + 0.2 * (action - 1)
            angle = angle + speed
            reward = float(np.cos(angle))
            action = yield np.array([np.cos(angle), np.sin(angle), speed], dtype=np.float32), reward, t == 29


GAMMA = 0.95
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
env = world(np.random.default_rng(1))
for episode in range(150):
    obs, _, done = next(env)
    rewards, logps = [], []
    while not done:
        dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)))
        action = dist.sample()
        obs, reward, done = env.send(action.item())
        rewards.append(reward)
        logps.append(dist.log_prob(action))
    G, returns = 0.0, []
    for r in reversed(rewards):
        G = r + GAMMA * G
        returns.insert(0, G)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(torch.stack(logps) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def program(fault: str = "") -> None:
    text = TEXT
    if fault:
        before, after = CHANGES[fault]
        assert before in text
        text = text.replace(before, after)
    run(text, __file__)
