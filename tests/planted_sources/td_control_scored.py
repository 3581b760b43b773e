"""n-step Q-learning that is scored every few thousand steps."""

from collections import deque

import gymnasium as gym
import torch
import torch.nn as nn


def score(env, q, episodes=5):
    totals = []
    for _ in range(episodes):
        state, _ = env.reset()
        total, over = 0.0, False
        while not over:
            with torch.no_grad():
                move = int(q(torch.as_tensor(state)).argmax())
            state, reward, terminated, truncated, _ = env.step(move)
            total += reward
            over = terminated or truncated
        totals.append(total)
    return sum(totals) / len(totals)


def train(steps=100_000, n=3, gamma=0.99, eps=0.1):
    env = gym.make("LunarLander-v3")
    # + other = gym.make("LunarLander-v3")
    q = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 4))
    adam = torch.optim.Adam(q.parameters(), lr=5e-4)
    recent = deque(maxlen=n)
    state, _ = env.reset(seed=12)
    for step in range(steps):
        now = torch.as_tensor(state)
        move = env.action_space.sample() if torch.rand(()) < eps else int(q(now).argmax())
        after, reward, terminated, truncated, _ = env.step(move)
        recent.append((now, move, reward))
        if len(recent) == n:
            with torch.no_grad():
                goal = torch.zeros(()) if terminated else q(torch.as_tensor(after)).max()
            for _, _, gained in reversed(recent):
                goal = gained + gamma * goal
            first, chosen, _ = recent[0]
            loss = nn.functional.smooth_l1_loss(q(first)[chosen], goal)
            adam.zero_grad()
            loss.backward()
            adam.step()
        state = after
        if terminated or truncated:
            recent.clear()
            state, _ = env.reset()
        if step % 5000 == 0:
            print(step, score(env, q))  # planted: evaluated-in-the-training-environment
            # = print(step, score(other, q))


if __name__ == "__main__":
    train()
