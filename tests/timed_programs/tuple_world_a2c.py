"""A2C every few steps, on a hand-written world with four-tuples as of old, which is also drawn now and then."""

import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Stopwatch:
    def __init__(self):
        self.ms = {k[5:]: float(v) for k, v in os.environ.items() if k.startswith("COST_") and k != "COST_KIND"}
        self.restart()

    def restart(self):
        self.totals, self.paid, self.times = {}, {}, {}
        self.on, self.at = "other", time.perf_counter()
        self.origin = self.at

    def to(self, name):
        now = time.perf_counter()
        self.totals[self.on] = self.totals.get(self.on, 0.0) + now - self.at
        old, self.on, self.at = self.on, name, now
        return old


w = Stopwatch()
stuff = (torch.rand(40, 40), torch.rand(700, 700))


def ballast(name):
    w.times[name] = w.times.get(name, 0) + 1
    ms = w.ms.get(name.upper().replace(" ", "_"), 0.0)
    if ms == 0.0:
        return
    t = time.perf_counter()
    kind = os.environ.get("COST_KIND")
    if kind == "torch":
        with torch.no_grad():
            while time.perf_counter() < t + ms / 1000:
                torch.linalg.norm(stuff[ms > 10] @ stuff[ms > 10])
    elif kind == "sleep":
        time.sleep(ms / 1000)
    else:
        while time.perf_counter() < t + ms / 1000:
            t * 2.0
    w.paid[name] = w.paid.get(name, 0.0) + time.perf_counter() - t


class Grid:
    """A mouse and its cheese on a board; up, down, left, right."""

    def __init__(self, n=6, seed=0):
        self.n, self.rs = n, np.random.RandomState(seed)
        self.mouse = self.cheese = (0, 0)
        self.clock = 0

    def _obs(self):
        return np.array([*self.mouse, *self.cheese], dtype=np.float64) / self.n

    def reset(self):
        was = w.to("reset")
        ballast("reset")
        self.mouse, self.cheese = tuple(self.rs.randint(0, self.n, 2)), tuple(self.rs.randint(0, self.n, 2))
        self.clock = 0
        obs = self._obs()
        w.to(was)
        return obs

    def step(self, a):
        was = w.to("simulator")
        ballast("simulator")
        dx, dy = ((0, 1), (0, -1), (1, 0), (-1, 0))[a]
        self.mouse = (min(max(self.mouse[0] + dx, 0), self.n - 1), min(max(self.mouse[1] + dy, 0), self.n - 1))
        self.clock += 1
        found = self.mouse == self.cheese
        obs = self._obs()
        w.to(was)
        return obs, 1.0 if found else -0.05, found or self.clock >= 30, {}

    def render(self):
        was = w.to("rendering")
        ballast("rendering")
        picture = np.zeros((self.n, self.n, 3), np.uint8)
        picture[self.mouse] = 255
        picture[self.cheese] = (255, 200, 0)
        picture = picture.repeat(8, 0).repeat(8, 1)
        w.to(was)
        return picture


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 64)
        self.p = nn.Linear(64, 4)
        self.v = nn.Linear(64, 1)

    def forward(self, obs):
        if torch.is_grad_enabled():
            ballast("acting")
        h = F.relu(self.body(obs))
        return Categorical(logits=self.p(h)), self.v(h).squeeze(-1)


class Slower(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        return i.clone()

    @staticmethod
    def backward(ctx, o):
        ballast("backward")
        return o


class Clumsy(torch.optim.RMSprop):
    def step(self, closure=None):
        ballast("optimizer")
        return super().step(closure)


def n_step(rewards, dones, last, gamma=0.95):
    ballast("advantages")
    returns = []
    for r, d in zip(rewards[::-1], dones[::-1], strict=True):
        last = r + gamma * last * (1.0 - d)
        returns.append(last)
    return torch.tensor(returns[::-1])


def clipped(reward):
    ballast("buffer write")
    return max(min(reward, 1.0), -1.0)


def objective(logps, values, returns, entropies):
    ballast("loss")
    adv = returns - values
    return -(torch.stack(logps) * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * torch.stack(entropies).mean()


def tally(history):
    """What the author likes to know; none of the learner's business."""
    ballast("other")
    history["seen"] = history.get("seen", 0) + 1


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    torch.manual_seed(11)
    world, net, frames, history = Grid(seed=11), TwoHeads(), [], {}
    opt = Clumsy(net.parameters(), lr=7e-4)
    obs = world.reset()
    w.restart()
    for u in range(updates):
        logps, values, rewards, dones, entropies = [], [], [], [], []
        for _ in range(8):
            w.to("copies")
            x = torch.tensor(obs, dtype=torch.float32)
            w.to("acting")
            dist, v = net(x)
            a = dist.sample()
            logp, entropy = dist.log_prob(a), dist.entropy()
            w.to("copies")
            move = a.item()
            w.to("other")
            obs, r, done, _ = world.step(move)
            w.to("buffer write")
            logps.append(logp)
            values.append(v)
            rewards.append(clipped(r))
            dones.append(float(done))
            entropies.append(entropy)
            w.to("other")
            tally(history)
            if done:
                obs = world.reset()
        if u % 10 == 0:
            frames.append(world.render())
            del frames[:-5]
        w.to("advantages")
        with torch.no_grad():
            last = net(torch.tensor(obs, dtype=torch.float32))[1].item()
        returns = n_step(rewards, dones, last)
        w.to("loss")
        loss = Slower.apply(objective(logps, torch.stack(values), returns, entropies))
        w.to("optimizer")
        opt.zero_grad()
        w.to("backward")
        loss.backward()
        w.to("optimizer")
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        w.to("other")
    w.to("other")


if __name__ == "__main__":
    main()
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump({"seconds": w.at - w.origin, "costs": w.paid, "parts": w.totals, "calls": w.times}, file)
