"""DDPG on Pendulum with two lagging networks."""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(sizes, last=nn.Identity):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers += [nn.Linear(a, b), nn.ReLU() if i < len(sizes) - 2 else last()]
    return nn.Sequential(*layers)


class Replay:
    def __init__(self, size, obs_dim, act_dim):
        self.obs = np.zeros((size, obs_dim), np.float32)
        self.act = np.zeros((size, act_dim), np.float32)
        self.rew = np.zeros((size, 1), np.float32)
        self.nxt = np.zeros((size, obs_dim), np.float32)
        self.end = np.zeros((size, 1), np.float32)
        self.size, self.n = size, 0

    def put(self, o, a, r, o2, d):
        i = self.n % self.size
        self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.end[i] = o, a, r, o2, d
        self.n += 1

    def draw(self, rng, k):
        i = rng.integers(0, min(self.n, self.size), k)
        return [torch.from_numpy(x[i]) for x in (self.obs, self.act, self.rew, self.nxt, self.end)]


def follow(slow, fast, rate):
    with torch.no_grad():
        for w_slow, w_fast in zip(slow.parameters(), fast.parameters()):
            w_slow = (1 - rate) * w_slow + rate * w_fast  # planted: weight-bound-not-written
            #= w_slow.copy_((1 - rate) * w_slow + rate * w_fast)


def main(steps=20_000, gamma=0.98, rate=0.01):
    env = gym.make("Pendulum-v1")
    rng = np.random.default_rng(1)
    replay = Replay(steps, 3, 1)
    actor, critic = mlp([3, 64, 64, 1], nn.Tanh), mlp([4, 64, 64, 1])
    actor_slow, critic_slow = copy.deepcopy(actor), copy.deepcopy(critic)
    opt_a = torch.optim.Adam(actor.parameters(), 1e-3)
    opt_c = torch.optim.Adam(critic.parameters(), 1e-3)
    obs, _ = env.reset(seed=1)
    for step in range(steps):
        with torch.no_grad():
            act = actor(torch.from_numpy(obs)).numpy() + rng.normal(0, 0.2, 1)
        act = np.clip(act, -1, 1).astype(np.float32)
        obs2, rew, term, trunc, _ = env.step(2 * act)
        replay.put(obs, act, rew / 10, obs2, term)
        obs = obs2
        if term or trunc:
            obs, _ = env.reset()
        if step < 1000:
            continue
        o, a, r, o2, d = replay.draw(rng, 128)
        with torch.no_grad():
            y = r + gamma * (1 - d) * critic_slow(torch.cat([o2, actor_slow(o2)], 1))
        loss_c = F.mse_loss(critic(torch.cat([o, a], 1)), y)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        loss_a = -critic(torch.cat([o, actor(o)], 1)).mean()
        opt_a.zero_grad()
        loss_a.backward()
        opt_a.step()
        follow(actor_slow, actor, rate)
        follow(critic_slow, critic, rate)


if __name__ == "__main__":
    main()
