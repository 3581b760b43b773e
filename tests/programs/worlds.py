"""A tiny Q-learner on a line, in environments with a fault each, with an evaluation beside it."""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from torch import nn

from rldebug.evidence.script import Script


class Line(gymnasium.Env):
    """A point that two actions push to either side, until it falls off."""

    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, fault="", limit=0):
        self.fault, self.limit, self.seen = fault, limit, np.zeros(2, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        last = self.seen
        self.place, self.speed = self.np_random.uniform(-0.2, 0.2, 2)
        self.count = 0
        self.seen = self._look()
        return (last if self.fault == "old reset" else self.seen), {}

    def step(self, action):
        late = self._look()
        self.speed += (0.11 if action == 1 else -0.1) + 0.02 * self.place
        self.place += self.speed
        self.count += 1
        self.seen = late if self.fault == "late" else self._look()
        reward = 1.0 - abs(self.place)
        if self.fault == "nan" and self.count == 3:
            reward = float("nan")
        return self.seen, reward, bool(abs(self.place) > 1), bool(self.limit and self.count >= self.limit), {}

    def _look(self):
        here = (0.5, 0.5) if self.fault == "still" else (self.place, self.speed)
        return np.array(here, np.float32)


def network():
    return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))


def learn(env=None, *, seed=0, again=lambda env: env.reset(), evaluate=None, net=None, steps=160, make=None):
    """Q-learning, an update each fourth step. `again` starts the next episode; `evaluate` is given the network."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = net or network()
    env = env or (make() if make else Line())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    memory = []
    obs, _ = env.reset(seed=seed)
    for count in range(steps):
        with torch.no_grad():
            greedy = int(net(torch.as_tensor(obs, dtype=torch.float32)[None]).argmax())
        action = int(rng.integers(2)) if rng.random() < 0.5 else greedy
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward))
        obs = after
        if terminated or truncated:
            if make:
                env = make()
            start = again(env)
            obs = after if start is None else start[0]
        if count % 4 == 3 and count > 12:
            rows = rng.integers(0, len(memory), 8)
            states = torch.tensor(np.array([memory[each][0] for each in rows]))
            chosen = torch.tensor([memory[each][1] for each in rows])
            target = torch.tensor([memory[each][2] for each in rows], dtype=torch.float32)
            loss = (net(states).gather(1, chosen[:, None])[:, 0] - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if evaluate is not None and count % 16 == 15:
                evaluate(net)


class Evaluation:
    """A few steps in an environment of its own, with the network it is given or one that it keeps."""

    def __init__(self, env=None, *, epsilon=0.0, keeps=None, eval_mode=False, steps=20):
        self.env, self.epsilon, self.keeps, self.eval_mode, self.steps = env or Line(), epsilon, keeps, eval_mode, steps
        self.rng = np.random.default_rng(1)

    def __call__(self, net):
        net = self.keeps or net
        if self.eval_mode:
            net.eval()
        obs, _ = self.env.reset(seed=100)
        for _ in range(self.steps):
            with torch.no_grad():
                action = int(net(torch.as_tensor(obs, dtype=torch.float32)[None]).argmax())
            if self.rng.random() < self.epsilon:
                action = int(self.rng.integers(2))
            obs, _, terminated, truncated, _ = self.env.step(action)
            if terminated or truncated:
                obs, _ = self.env.reset()
        net.train()


def script(*streams, notes=(), audits=(), **counts):
    """What was seen of some environments, by hand."""
    whole = {
        "name": "Line", "kind": "gymnasium", "lanes": 1, "autoreset": "disabled", "steps": 1000, "resets": 100,
        "phases": 50, "seeds": [0, None, None], "returns": [], "lengths": [], "terminated": [], "at": [],
        "episodes": 0, "terminations": 0, "truncations": 0, "stepped_after_end": 0, "reward": {"count": 1000},
        "obs": {"looked": 0}, "facts": {},
    }  # fmt: skip
    things = {str(index): {**whole, "index": index, **each} for index, each in enumerate(streams)}
    for each in things.values():
        each["episodes"] = each["episodes"] or len(each["lengths"])
    return Script(audits=audits, things={"stream": things, "counts": {"all": counts}}, notes=notes)
