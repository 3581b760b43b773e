#!/usr/bin/env python
# DQN from pixels on Catch. A ball (sometimes drifting sideways) falls, a bar at the bottom has to be under it.
import argparse
import copy
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Batch = namedtuple("Batch", "obs act rew nobs term")


class CatchEnv(gym.Env):
    """6x6 board drawn as a 12x12 RGB picture; three balls make an episode."""
    metadata = {"render_modes": ["rgb_array"]}
    SIZE, CELL, BALLS = 6, 2, 3

    def __init__(self):
        px = self.SIZE * self.CELL
        self.observation_space = gym.spaces.Box(0, 255, (px, px, 3), np.uint8)
        self.action_space = gym.spaces.Discrete(3)

    def _drop(self):
        self.row = 0
        self.col = int(self.np_random.integers(self.SIZE))
        self.drift = int(self.np_random.integers(-1, 2))

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.bar = int(self.np_random.integers(self.SIZE - 1))
        self.left = self.BALLS
        self._drop()
        return self.render(), {}

    def step(self, action):
        self.bar = min(max(self.bar + int(action) - 1, 0), self.SIZE - 2)
        self.row += 1
        if not 0 <= self.col + self.drift < self.SIZE:
            self.drift = -self.drift
        self.col += self.drift
        rew = 0.0
        if self.row == self.SIZE - 1:
            rew = 1.0 if self.col in (self.bar, self.bar + 1) else -1.0
            self.left -= 1
            if self.left:
                self._drop()
        return self.render(), rew, self.left == 0, False, {}

    def render(self):
        board = np.zeros((self.SIZE, self.SIZE, 3), np.uint8)
        board[self.row, self.col] = (255, 240, 200)
        board[-1, self.bar:self.bar + 2] = (120, 200, 255)
        return board.repeat(self.CELL, 0).repeat(self.CELL, 1)


class GrayHalf(gym.ObservationWrapper):
    """Grey picture at half the size, (h, w, 1)."""

    def __init__(self, env):
        super().__init__(env)
        h, w, _ = env.observation_space.shape
        self.observation_space = gym.spaces.Box(0, 255, (h // 2, w // 2, 1), np.uint8)

    def observation(self, frame):
        gray = frame.sum(-1, dtype=np.uint16) // 3
        small = gray[::2, ::2].astype(np.uint8)
        return small[..., None]


class StackFrames(gym.Wrapper):
    def __init__(self, env, k):
        super().__init__(env)
        self.frames = deque(maxlen=k)
        h, w, c = env.observation_space.shape
        self.observation_space = gym.spaces.Box(0, 255, (h, w, c * k), np.uint8)

    def reset(self, **kwargs):
        frame, info = self.env.reset(**kwargs)
        for _ in range(self.frames.maxlen):
            self.frames.append(frame)
        return np.concatenate(self.frames, -1), info

    def step(self, action):
        frame, rew, term, trunc, info = self.env.step(action)
        self.frames.append(frame)
        return np.concatenate(self.frames, -1), rew, term, trunc, info


def make_env(k):
    return StackFrames(GrayHalf(CatchEnv()), k)


class ConvQ(nn.Module):
    """takes (n, c, h, w) in [0, 1]"""

    def __init__(self, shape, n_act):
        super().__init__()
        h, w, c = shape
        self.body = nn.Sequential(
            nn.Conv2d(c, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * ((h + 1) // 2) * ((w + 1) // 2), 96), nn.ReLU(),
            nn.Linear(96, n_act))

    def forward(self, x):
        return self.body(x)


class Memory:
    def __init__(self, cap, shape):
        self.cap, self.n, self.i = cap, 0, 0
        self.obs = np.zeros((cap, *shape), np.uint8)
        self.nobs = np.zeros((cap, *shape), np.uint8)
        self.act = np.zeros(cap, np.int64)
        self.rew = np.zeros(cap, np.float32)
        self.term = np.zeros(cap, np.float32)

    def add(self, obs, act, rew, nobs, term):
        i = self.i
        self.obs[i], self.act[i], self.rew[i], self.nobs[i], self.term[i] = obs, act, rew, nobs, term
        self.i = (i + 1) % self.cap
        self.n = min(self.n + 1, self.cap)

    def sample(self, k, rng):
        j = rng.integers(0, self.n, k)
        return Batch(torch.from_numpy(self.obs[j]), torch.from_numpy(self.act[j]), torch.from_numpy(self.rew[j]),
                     torch.from_numpy(self.nobs[j]), torch.from_numpy(self.term[j]))


class Agent:
    def __init__(self, shape, n_act, lr, gamma, sync):
        self.q = ConvQ(shape, n_act)
        self.q_target = copy.deepcopy(self.q).requires_grad_(False)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.n_act, self.gamma, self.sync, self.updates = n_act, gamma, sync, 0

    @torch.no_grad()
    def act(self, obs, eps, rng):
        if rng.random() < eps:
            return int(rng.integers(self.n_act))
        x = torch.from_numpy(obs).unsqueeze(0).permute(0, 3, 1, 2).float() / 255.0
        return int(self.q(x).argmax(1))

    def td_target(self, b):
        with torch.no_grad():
            nq = self.q_target(b.nobs.permute(0, 3, 1, 2).float() / 255.0).max(1).values
            return b.rew + self.gamma * (1.0 - b.term) * nq

    def learn(self, b):
        q = self.q(b.obs.permute(0, 3, 1, 2).float() / 255.0)
        q = q.gather(1, b.act.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, self.td_target(b))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % self.sync == 0:
            self.q_target.load_state_dict(self.q.state_dict())
        return loss.item()


class Film:
    """Keeps the pictures of one episode and writes them to a file."""

    def __init__(self):
        self.pictures = []

    def start(self):
        self.pictures.clear()

    def shoot(self, env):
        self.pictures.append(env.unwrapped.render())

    def save(self, path):
        np.save(path, np.stack(self.pictures))


def play(agent, k, episodes, seed, path=None):
    env, film, rng, total = make_env(k), Film(), np.random.default_rng(seed), []
    for ep in range(episodes):
        film.start()
        obs, _ = env.reset(seed=seed + ep)
        score, over = 0.0, False
        while not over:
            film.shoot(env)
            obs, rew, term, trunc, _ = env.step(agent.act(obs, 0.0, rng))
            score += rew
            over = term or trunc
        total.append(score)
    if path:
        film.save(path)
    return float(np.mean(total))


def eps_at(step, horizon, lo=0.05):
    return max(lo, 1.0 - (1.0 - lo) * step / horizon)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--steps", type=int, default=5000)
    ap.add_argument("--stack", type=int, default=2)
    ap.add_argument("--lr", type=float, default=2.5e-3)
    ap.add_argument("--gamma", type=float, default=0.9)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--every", type=int, default=4)
    ap.add_argument("--warmup", type=int, default=500)
    ap.add_argument("--sync", type=int, default=60)
    a = ap.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    env = make_env(a.stack)
    shape = env.observation_space.shape
    agent = Agent(shape, int(env.action_space.n), a.lr, a.gamma, a.sync)
    mem = Memory(a.steps, shape)

    obs, _ = env.reset(seed=a.seed)
    ep_rew, history, losses = 0.0, deque(maxlen=40), deque(maxlen=200)
    for step in range(a.steps):
        act = agent.act(obs, eps_at(step, 0.5 * a.steps), rng)
        nobs, rew, term, trunc, _ = env.step(act)
        mem.add(obs, act, rew, nobs, term)
        obs = nobs
        ep_rew += rew
        if term or trunc:
            history.append(ep_rew)
            ep_rew = 0.0
            obs, _ = env.reset()
        if step >= a.warmup and step % a.every == 0:
            losses.append(agent.learn(mem.sample(a.batch, rng)))
        if (step + 1) % 1000 == 0:
            print("%6d steps | train score %.2f | loss %.4f" % (step + 1, np.mean(history), np.mean(losses)))
    print("balls caught minus missed, per game: %.2f" % play(agent, a.stack, 40, 10_000 + a.seed, "last_game.npy"))


if __name__ == "__main__":
    main()
