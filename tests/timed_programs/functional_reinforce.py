"""REINFORCE in functions, on a world of its own making that knows nothing of Gymnasium; actions keep their graph."""

import io
import json
import logging
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

log = logging.getLogger("reinforce")
extra = {key: float(value) for key, value in os.environ.items() if key.startswith("COST_") and key != "COST_KIND"}
big, small = torch.ones(700, 700), torch.ones(50, 50)
sums = {"costs": {}, "parts": {}, "calls": {}}
current = {"name": "other", "since": 0.0}


def strain(name):
    sums["calls"][name] = sums["calls"].get(name, 0) + 1
    milliseconds = extra.get("COST_" + name.upper().replace(" ", "_"), 0.0)
    if milliseconds:
        start = time.perf_counter()
        end = start + milliseconds / 1000
        match os.environ.get("COST_KIND"):
            case "sleep":
                time.sleep(milliseconds / 1000)
            case "torch":
                while time.perf_counter() < end:
                    (big if milliseconds > 10 else small).matmul(big if milliseconds > 10 else small)
            case _:
                while time.perf_counter() < end:
                    pass
        sums["costs"][name] = sums["costs"].get(name, 0.0) + time.perf_counter() - start


class period:
    def __init__(self, name):
        self.name = name

    def switch(self, to):
        now = time.perf_counter()
        sums["parts"][current["name"]] = sums["parts"].get(current["name"], 0.0) + now - current["since"]
        current["name"], current["since"] = to, now

    def __enter__(self):
        self.outer = current["name"]
        self.switch(self.name)

    def __exit__(self, *_):
        self.switch(self.outer)


class Corridor:
    """Walk to the right end. Answers with position and goal, reward, and whether it is over."""

    def __init__(self, length=12, seed=0):
        self.length = length
        self.rng = np.random.default_rng(seed)

    def reset(self):
        with period("reset"):
            strain("reset")
            self.where = int(self.rng.integers(0, 3))
            self.moves = 0
        return self.look()

    def look(self):
        view = np.zeros(self.length, dtype=np.float32)
        view[self.where] = 1.0
        return view

    def step(self, move):
        with period("simulator"):
            strain("simulator")
            self.moves += 1
            if self.rng.random() < 0.9:
                self.where = int(np.clip(self.where + (1 if move else -1), 0, self.length - 1))
            arrived = self.where == self.length - 1
            return self.look(), 1.0 if arrived else -0.02, arrived or self.moves >= 40


class Policy(torch.nn.Module):
    def __init__(self, inputs, hidden=48):
        super().__init__()
        self.a = torch.nn.Linear(inputs, hidden)
        self.b = torch.nn.Linear(hidden, 2)

    def forward(self, view):
        strain("acting")
        return F.log_softmax(self.b(torch.relu(self.a(view))), dim=-1)


class Thick(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        strain("backward")
        return g.clone()


class Careful(torch.optim.RMSprop):
    def step(self, closure=None):
        strain("optimizer")
        return super().step(closure)


class Careless(logging.StreamHandler):
    def emit(self, record):
        strain("logging")
        super().emit(record)


def choose(policy, view):
    with period("copies"):
        view = torch.from_numpy(view)
    with period("acting"):
        logs = policy(view)
        move = torch.multinomial(logs.exp(), 1)
        chosen = logs[move].squeeze()
    with period("copies"):
        return move.item(), chosen


def worth(reward):
    strain("buffer write")
    return min(max(reward, -1.0), 1.0)


def play(world, policy):
    with period("reset"):
        view = world.reset()
    logps, rewards, over = [], [], False
    while not over:
        move, logp = choose(policy, view)
        view, reward, over = world.step(move)
        with period("buffer write"):
            logps.append(logp)
            rewards.append(worth(reward))
    return logps, rewards


def to_go(rewards, gamma=0.97):
    strain("advantages")
    total, result = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        result.insert(0, total)
    result = torch.tensor(result)
    return (result - result.mean()) / (result.std() + 1e-6)


def objective(logps, weights):
    strain("loss")
    return Thick.apply(-(torch.stack(logps) * weights).mean())


def learn(policy, optimizer, loss):
    with period("optimizer"):
        optimizer.zero_grad(set_to_none=True)
    with period("backward"):
        loss.backward()
    with period("optimizer"):
        torch.nn.utils.clip_grad_value_(policy.parameters(), 1.0)
        optimizer.step()


def retune(optimizer, done):
    """A schedule that thinks a while."""
    strain("other")
    for group in optimizer.param_groups:
        group["lr"] = 2e-3 * (1 - 0.5 * done)


def main(episodes):
    logging.basicConfig(handlers=[Careless(io.StringIO())], level=logging.INFO)
    torch.manual_seed(0)
    world, policy = Corridor(), Policy(12)
    optimizer = Careful(policy.parameters(), lr=2e-3)
    current["since"] = begun = time.perf_counter()
    for episode in range(episodes):
        logps, rewards = play(world, policy)
        with period("advantages"):
            weights = to_go(rewards)
        with period("loss"):
            loss = objective(logps, weights)
        learn(policy, optimizer, loss)
        retune(optimizer, episode / episodes)
        if episode % 4 == 0:
            with period("logging"):
                log.info("episode %d return %.2f loss %.4f", episode, sum(rewards), loss.item())
    with period("other"):
        pass
    sums["seconds"] = current["since"] - begun
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump(sums, file)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
