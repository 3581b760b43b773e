"""A chaser and two runners on a line: a runner that is caught is out. With the methods of PettingZoo's ParallelEnv."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces


class Tag:
    metadata = {"name": "tag_v0"}  # noqa: RUF012

    def __init__(self, limit=50):
        self.limit = limit
        self.possible_agents = ["chaser", "left", "right"]
        self.spaces = {
            each: (spaces.Box(-10, 10, (3,), np.float32), spaces.Discrete(3)) for each in self.possible_agents
        }
        self.rng = np.random.default_rng()

    def observation_space(self, agent):
        return self.spaces[agent][0]

    def action_space(self, agent):
        return self.spaces[agent][1]

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.begin()
        return self.seen(self.agents), {each: {} for each in self.agents}

    def begin(self):
        self.t = 0
        self.at = {"chaser": 0.0, "left": self.rng.uniform(-9, -3), "right": self.rng.uniform(3, 9)}

    def seen(self, agents):
        return {each: self.view(each) for each in agents}

    def view(self, agent):
        others = [self.at[each] for each in self.possible_agents if each != agent]
        return np.array([self.at[agent], *others], np.float32)

    def move(self, actions):
        self.t += 1
        for agent, action in actions.items():
            pace = 0.9 if agent == "chaser" else 0.5
            self.at[agent] = float(np.clip(self.at[agent] + (int(action) - 1) * pace, -10, 10))

    def apart(self, agent):
        return abs(self.at[agent] - self.at["chaser"])

    def judge(self, agents):
        """Who is out for good, who is out of time, and what each is paid."""
        caught = {each for each in agents if each != "chaser" and self.apart(each) < 0.9}
        over = len(caught) == len(agents) - 1
        ended = {each: over or each in caught for each in agents}
        cut = {each: self.t >= self.limit and not ended[each] for each in agents}
        paid = {each: -1.0 if each in caught else 0.02 * self.apart(each) for each in agents}
        paid["chaser"] = float(len(caught)) - 0.01 * min(self.apart(each) for each in agents if each != "chaser")
        return ended, cut, paid

    def step(self, actions):
        there = self.agents
        self.move(actions)
        ended, cut, paid = self.judge(there)
        self.agents = [each for each in there if not ended[each] and not cut[each]]
        return self.seen(there), paid, ended, cut, {each: {} for each in there}

    def close(self):
        pass
