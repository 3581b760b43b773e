"""An actor in a thread plays, the learner takes what it left in a queue, and waits where there is nothing."""

import json
import os
import queue
import sys
import threading
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

sheet = {"costs": {}, "parts": {}, "calls": {}}
place, moment = "other", 0.0
lumber = [torch.rand(64, 64), torch.rand(512, 512)]


def tell(name):
    """For the learner's thread alone."""
    global place, moment
    t = time.perf_counter()
    sheet["parts"][place] = sheet["parts"].get(place, 0.0) + t - moment
    place, moment = name, t


def load(name):
    sheet["calls"][name] = sheet["calls"].get(name, 0) + 1
    amount = float(os.environ.get(f"COST_{name.upper().replace(' ', '_')}") or 0) / 1000
    if amount:
        t = time.perf_counter()
        how = os.environ.get("COST_KIND", "burn")
        if how == "sleep" or name == "waiting":
            time.sleep(amount)
        elif how == "burn":
            while time.perf_counter() < t + amount:
                pass
        else:
            with torch.no_grad():
                while time.perf_counter() < t + amount:
                    lumber[amount > 0.01].mm(lumber[amount > 0.01])
        sheet["costs"][name] = sheet["costs"].get(name, 0.0) + time.perf_counter() - t


class Knead(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        load("backward")
        return g


class Tired(torch.optim.SGD):
    def step(self, closure=None):
        load("optimizer")
        return super().step(closure)


class Brain(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.act, self.worth = nn.Linear(128, 2), nn.Linear(128, 1)

    def forward(self, x):
        if torch.is_grad_enabled():
            load("loss")
        h = self.inner(x)
        return self.act(h).log_softmax(-1), self.worth(h).squeeze(-1)


def actor(brain, out, stop):
    env = gym.make("CartPole-v1")
    obs, _ = env.reset(seed=6)
    while not stop.is_set():
        trail = []
        for _ in range(32):
            with torch.no_grad():
                logp, worth = brain(torch.from_numpy(obs))
            a = int(torch.multinomial(logp.exp(), 1))
            after, r, gone, cut, _ = env.step(a)
            trail.append((obs, a, r, float(gone or cut), float(worth)))
            obs = env.reset()[0] if gone or cut else after
        load("waiting")
        out.put(trail)


def discounted(r, d, v):
    load("advantages")
    gain = np.zeros_like(r)
    running = v[-1]
    for t in range(len(r) - 1, -1, -1):
        running = r[t] + 0.98 * running * (1 - d[t])
        gain[t] = running
    return gain


def main(updates):
    global moment
    torch.manual_seed(6)
    torch.set_num_threads(1)
    brain = Brain()
    opt = Tired(brain.parameters(), lr=1e-3, momentum=0.9)
    trails, stop = queue.Queue(maxsize=1), threading.Event()
    thread = threading.Thread(target=actor, args=(brain, trails, stop), daemon=True)
    thread.start()
    moment = begun = time.perf_counter()
    for _ in range(updates):
        tell("waiting")
        trail = trails.get()
        tell("advantages")
        x, a, r, d, v = (np.array(each, dtype=np.float32) for each in zip(*trail, strict=True))
        gain = discounted(r, d, v)
        tell("copies")
        x, a, gain = torch.from_numpy(x), torch.from_numpy(a).long(), torch.from_numpy(gain)
        for _ in range(4):
            tell("loss")
            logp, worth = brain(x)
            edge = (gain - worth).detach()
            loss = Knead.apply((gain - worth).pow(2).mean() - (logp.gather(1, a[:, None]).squeeze(1) * edge).mean())
            tell("optimizer")
            opt.zero_grad()
            tell("backward")
            loss.backward()
            tell("optimizer")
            opt.step()
        tell("other")
    tell("other")
    stop.set()
    while thread.is_alive():
        try:
            trails.get(timeout=0.05)
        except queue.Empty:
            pass
    return moment - begun


if __name__ == "__main__":
    sheet["seconds"] = main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump(sheet, file)
