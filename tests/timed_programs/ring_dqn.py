"""DQN in classes: an agent that remembers, learns and copies itself; checkpoints, and evaluation between episodes."""

import copy
import json
import os
import random
import sys
import tempfile
import time
from typing import ClassVar

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class Watch:
    kind = os.environ.get("COST_KIND", "burn")
    table: ClassVar = {}
    costs: ClassVar = {}
    parts: ClassVar = {}
    calls: ClassVar = {}
    names: ClassVar = ["other"]
    since = 0.0

    @classmethod
    def lap(cls):
        now = time.perf_counter()
        cls.parts[cls.names[-1]] = cls.parts.get(cls.names[-1], 0.0) + now - cls.since
        cls.since = now

    @classmethod
    def start(cls, name):
        cls.lap()
        cls.names.append("evaluation" if "evaluation" in cls.names else name)

    @classmethod
    def stop(cls):
        cls.lap()
        cls.names.pop()

    @classmethod
    def weigh(cls, name):
        cls.calls[name] = cls.calls.get(name, 0) + 1
        seconds = cls.table.get(name)
        if seconds is None:
            seconds = cls.table[name] = float(os.environ.get(f"COST_{name.upper().replace(' ', '_')}", "0")) / 1000
        if seconds == 0.0:
            return
        t0 = time.perf_counter()
        if cls.kind == "burn":
            n = 0
            while time.perf_counter() - t0 < seconds:
                n += 1
        elif cls.kind == "torch":
            big = np.ones(400_000) if seconds > 0.01 else np.ones(4_000)
            while time.perf_counter() - t0 < seconds:
                np.sort(big * big)
        else:
            time.sleep(seconds)
        cls.costs[name] = cls.costs.get(name, 0.0) + time.perf_counter() - t0


class Hill(gym.Env):
    def __init__(self):
        self.observation_space = gym.spaces.Box(-2, 2, (3,), dtype=np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        Watch.start("reset")
        Watch.weigh("reset")
        self.state = self.np_random.uniform(-0.5, 0.5, 3)
        self.left = 50
        Watch.stop()
        return self.state.astype(np.float32), {}

    def step(self, action):
        Watch.start("simulator")
        Watch.weigh("simulator")
        self.left -= 1
        self.state[1] += 0.1 * (action - 1) - 0.05 * np.sin(self.state[0])
        self.state[0] = np.clip(self.state[0] + 0.2 * self.state[1], -1.9, 1.9)
        reward = -float(abs(self.state[0] - 1))
        Watch.stop()
        return self.state.astype(np.float32), reward, False, self.left == 0, {}


class QNet(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))

    def forward(self, x):
        if x.shape[0] == 1:
            Watch.weigh("acting")
        elif torch.is_grad_enabled():
            Watch.weigh("loss")
        return self.layers(x)


class Sticky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 0

    @staticmethod
    def backward(ctx, grad_output):
        Watch.weigh("backward")
        return grad_output


class Lazy(torch.optim.AdamW):
    def step(self, closure=None):
        Watch.weigh("optimizer")
        return super().step(closure)


class Ring:
    def __init__(self, capacity, width):
        self.capacity, self.size, self.head = capacity, 0, 0
        self.s = np.zeros((capacity, width), np.float32)
        self.s2 = np.zeros((capacity, width), np.float32)
        self.a = np.zeros(capacity, np.int64)
        self.r = np.zeros(capacity, np.float32)
        self.d = np.zeros(capacity, np.float32)

    def put(self, s, a, r, s2, d):
        Watch.weigh("buffer write")
        i = self.head
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.head = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def draw(self, n):
        Watch.weigh("buffer sample")
        i = np.random.randint(0, self.size, n)
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]


class DQNAgent:
    def __init__(self, env):
        self.online = QNet(3, env.action_space.n)
        self.frozen = copy.deepcopy(self.online)
        self.optim = Lazy(self.online.parameters(), lr=1e-3)
        self.ring = Ring(5000, 3)
        self.epsilon = 1.0
        self.learned = 0

    def decide(self, s, greedy=False):
        if not greedy and random.random() < self.epsilon:
            return random.randrange(3)
        Watch.start("copies")
        x = torch.tensor(s).unsqueeze(0)
        Watch.stop()
        Watch.start("acting")
        with torch.no_grad():
            q = self.online(x)
        best = q.argmax(1)
        Watch.stop()
        Watch.start("copies")
        best = int(best)
        Watch.stop()
        return best

    def remember(self, *row):
        Watch.start("buffer write")
        self.ring.put(*row)
        Watch.stop()

    def learn(self):
        if self.ring.size < 200:
            return None
        Watch.start("buffer sample")
        batch = self.ring.draw(64)
        Watch.stop()
        Watch.start("copies")
        s, a, r, s2, d = map(torch.from_numpy, batch)
        Watch.stop()
        Watch.start("loss")
        with torch.no_grad():
            target = r + 0.98 * (1 - d) * self.frozen(s2).max(1).values
        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        loss = Sticky.apply(nn.functional.smooth_l1_loss(q, target))
        Watch.stop()
        Watch.start("optimizer")
        self.optim.zero_grad()
        Watch.stop()
        Watch.start("backward")
        loss.backward()
        Watch.stop()
        Watch.start("optimizer")
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optim.step()
        Watch.stop()
        self.learned += 1
        if self.learned % 25 == 0:
            self.refresh()
        return loss

    def refresh(self):
        Watch.start("target networks")
        Watch.weigh("target networks")
        self.frozen.load_state_dict(self.online.state_dict())
        Watch.stop()


def examine(agent, env, games=1):
    Watch.start("evaluation")
    total = 0.0
    for _ in range(games):
        Watch.weigh("evaluation")
        s, _ = env.reset()
        over = False
        while not over:
            s, r, gone, cut, _ = env.step(agent.decide(s, greedy=True))
            total += r
            over = gone or cut
    Watch.stop()
    return total / games


def checkpoint(agent, where):
    Watch.weigh("saving")
    torch.save({"online": agent.online.state_dict(), "optim": agent.optim.state_dict()}, where)


def run(n_steps):
    np.random.seed(5), random.seed(5), torch.manual_seed(5)
    env, exam = Hill(), Hill()
    agent = DQNAgent(env)
    where = os.path.join(tempfile.mkdtemp(), "agent.pth")
    s, _ = env.reset(seed=5)
    Watch.costs.clear(), Watch.parts.clear()
    Watch.since = origin = time.perf_counter()
    for i in range(n_steps):
        a = agent.decide(s)
        s2, r, gone, cut, _ = env.step(a)
        agent.remember(s, a, r, s2, gone)
        s = s2
        agent.learn()
        agent.epsilon = max(0.1, agent.epsilon - 1 / 1000)
        if gone or cut:
            s, _ = env.reset()
        if i % 500 == 499:
            examine(agent, exam)
            Watch.start("saving")
            checkpoint(agent, where)
            Watch.stop()
    Watch.lap()
    return Watch.since - origin


if __name__ == "__main__":
    took = run(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
    if path := os.environ.get("TRUTH"):
        with open(path, "w") as f:
            json.dump({"seconds": took, "costs": Watch.costs, "parts": Watch.parts, "calls": Watch.calls}, f)
