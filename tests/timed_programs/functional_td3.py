"""TD3 in functions: the replay is a dict of arrays, methods are decorated with no_grad, the policy learns later."""

import copy
import sys

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from ledger import begin, belongs, cost, end
from torch import nn


class Cart(gym.Env):
    observation_space = gym.spaces.Box(-5, 5, (3,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        with belongs("reset"):
            cost("reset")
            self.x = self.np_random.normal(size=3)
            self.t = 0
            return self._seen(), {}

    def step(self, action):
        with belongs("simulator"):
            cost("simulator")
            self.t += 1
            self.x = 0.9 * self.x + 0.05 * self.np_random.normal(size=3)
            self.x[1] += 0.3 * float(action[0])
            return self._seen(), -float(np.abs(self.x).sum()), False, self.t >= 60, {}

    def _seen(self):
        return np.clip(self.x, -5, 5).astype(np.float32)


class Doubled(gym.ActionWrapper):
    def action(self, action):
        cost("wrappers")
        return np.clip(2.0 * action, -1, 1)


def dense(n_in, n_out, squash=False):
    layers = [nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out)]
    return nn.Sequential(*layers, nn.Tanh()) if squash else nn.Sequential(*layers)


class Tug(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        cost("backward")
        return g


class SlowAdam(torch.optim.Adam):
    def step(self, closure=None):
        cost("optimizer")
        return super().step(closure)


class TD3:
    def __init__(self):
        self.pi = dense(3, 1, squash=True)
        self.q1, self.q2 = dense(4, 1), dense(4, 1)
        self.nets = {"pi": self.pi, "q1": self.q1, "q2": self.q2}
        self.lagging = {name: copy.deepcopy(net).requires_grad_(False) for name, net in self.nets.items()}
        self.pi_opt = SlowAdam(self.pi.parameters(), 1e-3)
        self.q_opt = SlowAdam([*self.q1.parameters(), *self.q2.parameters()], 1e-3)

    @torch.no_grad()
    def act(self, obs, noise):
        with belongs("copies"):
            x = torch.from_numpy(obs)
        with belongs("acting"):
            cost("acting")
            u = self.pi(x)
            u = (u + noise * torch.randn_like(u)).clamp(-1, 1)
        with belongs("copies"):
            return u.numpy()

    @torch.no_grad()
    def goal(self, r, s2, done):
        cost("loss")
        noise = (0.2 * torch.randn(len(r), 1)).clamp(-0.5, 0.5)
        u2 = (self.lagging["pi"](s2) + noise).clamp(-1, 1)
        both = torch.cat([s2, u2], dim=1)
        return r + 0.97 * (1 - done) * torch.min(self.lagging["q1"](both), self.lagging["q2"](both))

    @torch.no_grad()
    def follow(self, tau=0.01):
        cost("target networks")
        for name, net in self.nets.items():
            for slow, fast in zip(self.lagging[name].parameters(), net.parameters(), strict=True):
                slow.lerp_(fast, tau)


def new_replay(size):
    shapes = {"s": 3, "u": 1, "r": 1, "s2": 3, "done": 1}
    return {"n": 0, "size": size, **{key: np.zeros((size, width), np.float32) for key, width in shapes.items()}}


def insert(replay, **row):
    cost("buffer write")
    at = replay["n"] % replay["size"]
    for key, value in row.items():
        replay[key][at] = value
    replay["n"] += 1


def batch_of(replay, rng, n=64):
    cost("buffer sample")
    rows = rng.integers(0, min(replay["n"], replay["size"]), n)
    return tuple(torch.from_numpy(replay[key][rows]) for key in ("s", "u", "r", "s2", "done"))


def learn(agent, replay, rng, turn):
    with belongs("buffer sample"):
        s, u, r, s2, done = batch_of(replay, rng)
    with belongs("loss"):
        y = agent.goal(r, s2, done)
        su = torch.cat([s, u], 1)
        q_loss = Tug.apply(F.mse_loss(agent.q1(su), y) + F.mse_loss(agent.q2(su), y))
    with belongs("optimizer"):
        agent.q_opt.zero_grad()
    with belongs("backward"):
        q_loss.backward()
    with belongs("optimizer"):
        agent.q_opt.step()
    if turn % 2 == 0:
        with belongs("loss"):
            pi_loss = -agent.q1(torch.cat([s, agent.pi(s)], 1)).mean()
        with belongs("optimizer"):
            agent.pi_opt.zero_grad()
        with belongs("backward"):
            pi_loss.backward()
        with belongs("optimizer"):
            agent.pi_opt.step()
        with belongs("target networks"):
            agent.follow()


def score(agent, env):
    total, over = 0.0, False
    cost("evaluation")
    s, _ = env.reset()
    while not over:
        s, r, gone, cut, _ = env.step(agent.act(s, 0.0))
        total += r
        over = gone or cut
    return total


def main(steps):
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    env, other = Doubled(Cart()), Doubled(Cart())
    agent, replay = TD3(), new_replay(4000)
    s, _ = env.reset(seed=11)
    best = -1e9
    begin()
    for turn in range(steps):
        u = agent.act(s, 0.3) if turn > 150 else env.action_space.sample()
        with belongs("wrappers"):
            s2, r, gone, cut, _ = env.step(u)
        with belongs("buffer write"):
            insert(replay, s=s, u=u, r=r, s2=s2, done=gone)
        s = s2
        if gone or cut:
            with belongs("reset"):
                s, _ = env.reset()
        if turn >= 150:
            learn(agent, replay, rng, turn)
        if turn % 300 == 299:
            with belongs("evaluation"):
                best = max(best, score(agent, other))
    end()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1100)
