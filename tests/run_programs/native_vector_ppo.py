"""Policy gradients in the way of PufferLib: an environment that is many agents in one, with buffers of its own that it
writes into, that resets itself; and a loop that receives and sends."""

import numpy as np
import torch
from torch import nn

AGENTS, STEPS, GAMMA, LAM = 16, 32, 0.95, 0.9


class Corridors:
    """Each agent walks a corridor of its own towards 1 or -1; which end pays is shown."""

    num_agents = AGENTS

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.observations = np.zeros((AGENTS, 3), dtype=np.float32)
        self.rewards = np.zeros(AGENTS, dtype=np.float32)
        self.terminals, self.truncations = np.zeros(AGENTS, dtype=bool), np.zeros(AGENTS, dtype=bool)
        self.where, self.goal = np.zeros(AGENTS), np.ones(AGENTS)

    def _begin(self, which):
        self.where[which] = self.random.uniform(-0.5, 0.5, which.sum())
        self.goal[which] = self.random.choice([-1.0, 1.0], which.sum())

    def _show(self):
        self.observations[:] = np.stack([self.where, self.goal, self.where * self.goal], axis=1)

    def reset(self, seed=None):
        self._begin(np.ones(AGENTS, dtype=bool))
        self._show()
        return self.observations, []

    def step(self, actions):
        self.where += 0.2 * (actions - 1) + 0.05 * self.random.normal(size=AGENTS)
        over = np.abs(self.where) >= 1.0
        self.rewards[:] = np.where(over, np.sign(self.where) * self.goal, -0.01)
        self.terminals[:] = over
        self._begin(over)
        self._show()
        return self.observations, self.rewards, self.terminals, self.truncations, []

    def async_reset(self, seed=None):
        self.reset(seed)
        self.rewards[:], self.terminals[:] = 0.0, False

    def send(self, actions):
        self.step(actions)

    def recv(self):
        ids, masks = np.arange(AGENTS), np.ones(AGENTS, dtype=bool)
        return self.observations, self.rewards, self.terminals, self.truncations, [], ids, masks


def main(updates=12):
    torch.manual_seed(0)
    vecenv = Corridors()
    policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
    value = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)
    obs = torch.zeros(STEPS, AGENTS, 3)
    acts, logps, rews, dones, vals = (torch.zeros(STEPS, AGENTS) for _ in range(5))
    vecenv.async_reset(0)
    o, _, _, _, _, _, _ = vecenv.recv()
    for _ in range(updates):
        for t in range(STEPS):
            seen = torch.tensor(o)
            with torch.no_grad():
                dist = torch.distributions.Categorical(logits=policy(seen))
                action = dist.sample()
                obs[t], acts[t], logps[t], vals[t] = seen, action, dist.log_prob(action), value(seen).squeeze(-1)
            vecenv.send(action.numpy())
            o, r, d, _, _, _, _ = vecenv.recv()
            rews[t], dones[t] = torch.tensor(r), torch.tensor(d).float()
        with torch.no_grad():
            after = value(torch.tensor(o)).squeeze(-1)
            adv, last = torch.zeros_like(rews), torch.zeros(AGENTS)
            for t in reversed(range(STEPS)):
                alive = 1.0 - dones[t]
                delta = rews[t] + GAMMA * alive * (after if t == STEPS - 1 else vals[t + 1]) - vals[t]
                last = delta + GAMMA * LAM * alive * last
                adv[t] = last
            returns = adv + vals
        for rows in torch.randperm(STEPS * AGENTS).split(128):
            x, a, old = obs.reshape(-1, 3)[rows], acts.reshape(-1)[rows], logps.reshape(-1)[rows]
            dist = torch.distributions.Categorical(logits=policy(x))
            ratio = (dist.log_prob(a) - old).exp()
            weight = adv.reshape(-1)[rows]
            weight = (weight - weight.mean()) / (weight.std() + 1e-8)
            loss = torch.max(-weight * ratio, -weight * ratio.clamp(0.8, 1.2)).mean() - 0.01 * dist.entropy().mean()
            loss = loss + 0.5 * ((value(x).squeeze(-1) - returns.reshape(-1)[rows]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
