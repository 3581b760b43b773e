"""PPO that several agents share, on a game that agents leave one by one; and the same as an agent for probes."""

from __future__ import annotations

import functools

import numpy as np
import torch
from gymnasium import spaces
from pettingzoo import ParallelEnv
from torch import nn
from torch.distributions import Categorical

LAM = 0.95


class Tag(ParallelEnv):
    """A chaser and two runners on a line: a runner that is caught is out; cut off after `limit` steps."""

    metadata = {"name": "tag_v0"}  # noqa: RUF012

    def __init__(self, limit=25, render_mode=None):
        self.possible_agents = ["chaser", "left", "right"]
        self.limit, self.render_mode = limit, render_mode
        self.rng = np.random.default_rng()

    @functools.cache  # noqa: B019
    def observation_space(self, agent):
        return spaces.Box(-1, 1, (6,), np.float32)

    @functools.cache  # noqa: B019
    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.t = 0
        self.at = {"chaser": 0.0, "left": self.rng.uniform(-9, -2), "right": self.rng.uniform(2, 9)}
        return {each: self.seen(each) for each in self.agents}, {each: {} for each in self.agents}

    def seen(self, agent):
        who = self.possible_agents.index(agent)
        others = [self.at[each] / 10 for each in self.possible_agents if each != agent]
        return np.array([self.at[agent] / 10, *others, *np.eye(3)[who]], np.float32)

    def apart(self, agent):
        return abs(self.at[agent] - self.at["chaser"])

    def step(self, actions):
        there = self.agents
        self.t += 1
        for agent, action in actions.items():
            pace = 0.9 if agent == "chaser" else 0.5
            self.at[agent] = float(np.clip(self.at[agent] + (int(action) - 1) * pace, -10, 10))
        caught = {each for each in there if each != "chaser" and self.apart(each) < 0.9}
        over = len(caught) == len(there) - 1
        ended = {each: over or each in caught for each in there}
        cut = {each: self.t >= self.limit and not ended[each] for each in there}
        paid = {each: -1.0 if each in caught else 0.1 * self.apart(each) for each in there}
        paid["chaser"] = len(caught) - 0.05 * min(self.apart(each) for each in there if each != "chaser")
        self.agents = [each for each in there if not ended[each] and not cut[each]]
        return {each: self.seen(each) for each in there}, paid, ended, cut, {each: {} for each in there}


class Shared:
    """One network for all agents. `swapped`: each is paid what its neighbour earned."""

    gamma = 0.97

    def __init__(self, env, *, seed=0, swapped=False, lr=1e-3, steps=128):
        torch.manual_seed(seed)
        self.env, self.swapped, self.rollout = env, swapped, steps
        first = env.possible_agents[0]
        wide, many = int(np.prod(env.observation_space(first).shape)), int(env.action_space(first).n)
        self.actor = nn.Sequential(nn.Linear(wide, 32), nn.Tanh(), nn.Linear(32, many))
        self.critic = nn.Sequential(nn.Linear(wide, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=lr)
        self.obs, _ = env.reset(seed=seed)

    def value(self, obs):
        with torch.no_grad():
            return self.critic(torch.as_tensor(obs)).squeeze(-1).numpy()

    def policy(self, obs):
        with torch.no_grad():
            return self.actor(torch.as_tensor(obs)).softmax(-1).numpy()

    def learn(self, steps):
        for _ in range(max(steps // (self.rollout * len(self.env.possible_agents)), 1)):
            self.update(self.collect())

    def collect(self):
        """What each agent lived through, from its first step or the last update to its end or the next one."""
        open_, paths = {each: [] for each in self.env.agents}, []
        for _ in range(self.rollout):
            agents = list(self.env.agents)
            x = torch.as_tensor(np.stack([self.obs[each] for each in agents]))
            with torch.no_grad():
                dist = Categorical(logits=self.actor(x))
                action, value = dist.sample(), self.critic(x).squeeze(-1)
                logp = dist.log_prob(action)
            after, reward, ended, cut, _ = self.env.step(dict(zip(agents, action.tolist(), strict=True)))
            paid = [*agents[1:], agents[0]] if self.swapped else agents
            for i, each in enumerate(agents):
                open_[each].append((x[i], action[i], logp[i], value[i], float(reward[paid[i]])))
                if ended[each] or cut[each]:
                    paths.append((open_.pop(each), 0.0 if ended[each] else float(self.value(after[each][None])[0])))
            self.obs = after
            if not self.env.agents:
                self.obs, _ = self.env.reset()
                open_ = {each: [] for each in self.env.agents}
        paths += [(rows, float(self.value(self.obs[each][None])[0])) for each, rows in open_.items() if rows]
        return paths

    def update(self, paths):
        x, action, logp, value = ([] for _ in range(4))
        advantages = []
        for rows, last in paths:
            advantage, after = 0.0, last
            made = []
            for _, _, _, v, r in reversed(rows):
                advantage = r + self.gamma * after - float(v) + self.gamma * LAM * advantage
                after = float(v)
                made.append(advantage)
            advantages += made[::-1]
            for column, place in ((x, 0), (action, 1), (logp, 2), (value, 3)):
                column += [row[place] for row in rows]
        x, action, logp, value = map(torch.stack, (x, action, logp, value))
        advantage = torch.tensor(advantages, dtype=torch.float32)
        target = advantage + value
        for _ in range(4):
            for chosen in torch.randperm(len(x)).split(96):
                dist, a = Categorical(logits=self.actor(x[chosen])), advantage[chosen]
                a = (a - a.mean()) / (a.std() + 1e-8)
                ratio = (dist.log_prob(action[chosen]) - logp[chosen]).exp()
                loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
                loss = loss + 0.5 * (self.critic(x[chosen]).squeeze(-1) - target[chosen]).pow(2).mean()
                loss = loss - 0.01 * dist.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


def tag(*, updates=8, seed=0, limit=25, env=None):
    learner = Shared(env or Tag(limit), seed=seed)
    for _ in range(updates):
        learner.update(learner.collect())
    return learner
