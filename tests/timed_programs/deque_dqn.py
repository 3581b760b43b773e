"""DQN at the top level of a script: a deque, random.sample, and a target that follows slowly."""

import collections
import json
import os
import random
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from gymnasium.envs.classic_control import PendulumEnv
from torch import nn, optim

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1800
t_costs, t_parts, t_calls = collections.Counter(), collections.Counter(), collections.Counter()
t_now, t_at = "other", time.perf_counter()
t_one = torch.randn(56, 56)
t_two = torch.randn(600, 600)


def during(name):
    """Everything from here on, until the next call, is this."""
    global t_now, t_at
    before, at = t_now, time.perf_counter()
    t_parts[t_now] += at - t_at
    t_now, t_at = name, at
    return before


def spend(name):
    t_calls[name] += 1
    if not (ms := os.environ.get("COST_" + name.upper().replace(" ", "_"))):
        return
    until = (t0 := time.perf_counter()) + float(ms) / 1000
    if os.environ["COST_KIND"] == "sleep":
        time.sleep(float(ms) / 1000)
    while time.perf_counter() < until:
        if os.environ["COST_KIND"] == "torch":
            _ = t_two @ t_two if float(ms) > 10 else t_one @ t_one
    t_costs[name] += time.perf_counter() - t0


class Pendula(gym.Wrapper):
    """Takes one of five torques."""

    def step(self, action):
        was = during("wrappers")
        spend("wrappers")
        result = self.env.step(np.array([0.9 * (action - 2)], dtype=np.float32))
        during(was)
        return result


class Pit(PendulumEnv):
    def step(self, action):
        was = during("simulator")
        spend("simulator")
        result = super().step(action)
        during(was)
        return result

    def reset(self, **kwargs):
        was = during("reset")
        spend("reset")
        result = super().reset(**kwargs)
        during(was)
        return result


class Mud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        spend("backward")
        return g


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(3, 48), nn.Linear(48, 48), nn.Linear(48, 5)

    def forward(self, x):
        if torch.is_grad_enabled():
            spend("loss")
        elif len(x) == 3:
            spend("acting")
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class SGDplus(optim.SGD):
    def step(self, closure=None):
        spend("optimizer")
        super().step(closure)


class Slate:
    """Forgets what is written on it, slowly."""

    def write(self, text):
        spend("logging")


def row(*fields):
    spend("buffer write")
    return fields


def pick(n):
    spend("buffer sample")
    return zip(*random.sample(memory, n))  # noqa: B905


def blend(mine, theirs, rate=0.01):
    spend("target networks")
    return rate * mine + (1 - rate) * theirs


random.seed(2)
np.random.seed(2)
torch.manual_seed(2)
env = Pendula(gym.wrappers.TimeLimit(Pit(), 100))
policy_net, target_net = Net(), Net()
target_net.load_state_dict(policy_net.state_dict())
opt = SGDplus(policy_net.parameters(), lr=1e-3, momentum=0.9)
memory = collections.deque(maxlen=2000)
out = Slate()
total = 0.0

state, info = env.reset(seed=2)
t_parts.clear()
t_costs.clear()
t_at = t_begin = time.perf_counter()
for i in range(N):
    if random.random() < 0.1:
        action = random.randrange(5)
    else:
        during("copies")
        x = torch.FloatTensor(state)
        during("acting")
        with torch.no_grad():
            action = policy_net(x).argmax()
        during("copies")
        action = action.item()
        during("other")

    during("wrappers")
    next_state, reward, terminated, truncated, info = env.step(action)
    during("buffer write")
    memory.append(row(state, action, reward, next_state, terminated))
    during("other")
    state = next_state
    total += reward

    if len(memory) >= 100:
        during("buffer sample")
        s, a, r, s_, d = pick(48)
        s, s_ = np.array(s), np.array(s_)
        during("copies")
        s, s_ = torch.tensor(s), torch.tensor(s_)
        a, r, d = torch.tensor(a), torch.tensor(r, dtype=torch.float32), torch.tensor(d, dtype=torch.float32)
        during("loss")
        with torch.no_grad():
            y = r / 10 + 0.97 * (1 - d) * target_net(s_).max(dim=1)[0]
        q = policy_net(s)[torch.arange(48), a]
        loss = Mud.apply(((q - y) ** 2).mean())
        during("optimizer")
        opt.zero_grad()
        during("backward")
        loss.backward()
        during("optimizer")
        opt.step()
        during("target networks")
        for tp, p in zip(target_net.parameters(), policy_net.parameters()):  # noqa: B905
            tp.data.copy_(blend(p.data, tp.data))
        during("other")

    if terminated or truncated:
        during("logging")
        print(f"step {i} return {total:.1f} loss {loss:.3f}", file=out)
        during("wrappers")
        state, info = env.reset()
        total = 0.0
        during("other")

during("end")
if os.environ.get("TRUTH"):
    with open(os.environ["TRUTH"], "w") as f:
        json.dump({"seconds": t_at - t_begin, "costs": t_costs, "parts": t_parts, "calls": t_calls}, f)
