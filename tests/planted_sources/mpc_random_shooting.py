"""A model of a pendulum is learned from random play and used to plan."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


def random_play(env, length, seed):
    env.action_space.seed(seed)
    seen, _ = env.reset(seed=seed)
    row = np.zeros(7, dtype=np.float32)
    rows = []
    for _ in range(length):
        move = env.action_space.sample()
        after, _, terminated, truncated, _ = env.step(move)
        row[:3], row[3:4], row[4:] = seen, move, after
        rows.append(row)  # planted: one-array-stored-again-and-again
        # = rows.append(row.copy())
        seen = env.reset()[0] if terminated or truncated else after
    return torch.as_tensor(np.stack(rows))


def fit(model, rows, epochs=50, size=256):
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for part in torch.randperm(len(rows)).split(size):
            given, change = rows[part, :4], rows[part, 4:] - rows[part, :3]
            loss = nn.functional.mse_loss(model(given), change)
            adam.zero_grad()
            loss.backward()
            adam.step()


@torch.no_grad()
def plan(model, seen, tries=500, ahead=20):
    moves = torch.rand(tries, ahead, 1) * 4 - 2
    states, worth = torch.as_tensor(seen).repeat(tries, 1), torch.zeros(tries)
    for t in range(ahead):
        states = states + model(torch.cat([states, moves[:, t]], 1))
        worth += states[:, 0] - 0.1 * states[:, 2] ** 2 - 0.001 * moves[:, t, 0] ** 2
    return moves[worth.argmax(), 0].numpy()


if __name__ == "__main__":
    world = gym.make("Pendulum-v1")
    net = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 3))
    fit(net, random_play(world, 5000, seed=0))
    now, _ = world.reset(seed=1)
    total, over = 0.0, False
    while not over:
        now, reward, terminated, truncated, _ = world.step(plan(net, now))
        total += reward
        over = terminated or truncated
    print(total)
