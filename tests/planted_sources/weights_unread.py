"""Q-learning on CartPole with a replay that prefers rows with large errors."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

GAMMA, ALPHA, BATCH = 0.99, 0.6, 64


class Preferring:
    def __init__(self, room):
        self.rows, self.errors, self.room = [], [], room

    def keep(self, row):
        if len(self.rows) == self.room:
            self.rows.pop(0), self.errors.pop(0)
        self.rows.append(row)
        self.errors.append(max(self.errors, default=1.0))

    def pick(self, beta):
        chance = np.array(self.errors) ** ALPHA
        chance /= chance.sum()
        picked = np.random.choice(len(self.rows), BATCH, p=chance)
        balance = np.power(len(self.rows) * chance[picked], -beta)
        columns = [torch.as_tensor(np.array(each)) for each in zip(*(self.rows[i] for i in picked), strict=True)]
        return picked, columns, torch.as_tensor(balance / balance.max(), dtype=torch.float32)

    def note(self, picked, errors):
        for i, error in zip(picked, errors, strict=True):
            self.errors[i] = float(abs(error)) + 1e-3


def study(replay, net, slow, optimizer, beta):
    picked, (obs, act, rew, nxt, end), balance = replay.pick(beta)  # planted: importance-weights-never-used
    # = picked, (obs, act, rew, nxt, end), balance = replay.pick(beta)
    value = net(obs).gather(1, act[:, None]).squeeze(1)
    with torch.no_grad():
        goal = rew.float() + GAMMA * (1 - end.float()) * slow(nxt).max(1).values
    error = goal - value
    # + error = error * balance.sqrt()
    optimizer.zero_grad()
    error.pow(2).mean().backward()
    optimizer.step()
    replay.note(picked, error.detach())


def main():
    env = gym.make("CartPole-v1")
    net, slow = (nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2)) for _ in range(2))
    slow.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    replay = Preferring(10_000)
    obs, _ = env.reset(seed=0)
    for step in range(20_000):
        if np.random.rand() < max(0.05, 1 - step / 5000):
            act = int(env.action_space.sample())
        else:
            with torch.no_grad():
                act = int(net(torch.as_tensor(obs)).argmax())
        nxt, rew, terminated, truncated, _ = env.step(act)
        replay.keep((obs, act, rew, nxt, terminated))
        obs = env.reset()[0] if terminated or truncated else nxt
        if step > 500:
            study(replay, net, slow, optimizer, beta=min(1.0, 0.4 + step / 20_000))
        if step % 250 == 0:
            slow.load_state_dict(net.state_dict())


if __name__ == "__main__":
    main()
