"""The learner of an IMPALA that reads trajectories from a queue."""

import queue

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, observation, actions):
        super().__init__()
        self.core = nn.GRU(observation, 128)
        self.logits = nn.Linear(128, actions)
        self.baseline = nn.Linear(128, 1)

    def forward(self, x, state=None):
        out, state = self.core(x, state)
        return self.logits(out), self.baseline(out).squeeze(-1), state


def vtrace(behaviour, target, rewards, discounts, values, last):
    rho = torch.exp(target - behaviour).clamp(max=1.0)
    following = torch.cat([values[1:], last[None]])
    deltas = rho * (rewards + discounts * following - values)
    carried, out = torch.zeros_like(last), []
    for step in reversed(range(len(rewards))):
        carried = deltas[step] + discounts[step] * rho[step] * carried
        out.append(carried)
    vs = torch.stack(out[::-1]) + values
    ahead = torch.cat([vs[1:], last[None]])
    return vs, rho * (rewards + discounts * ahead - values)


def learn(model, trajectories: queue.Queue, updates, rate=6e-4):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=rate, eps=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=updates)
    for _ in range(updates):
        obs, actions, behaviour, rewards, discounts = trajectories.get()
        logits, values, _ = model(obs)
        log_probs = F.log_softmax(logits[:-1], dim=-1)
        chosen = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        with torch.no_grad():
            vs, advantages = vtrace(behaviour, chosen, rewards, discounts, values[:-1], values[-1])
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -(chosen * advantages).mean() + 0.5 * F.mse_loss(values[:-1], vs) - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 40.0)
        schedule.step()  # planted: schedule-moves-first
        optimizer.step()
        # + schedule.step()
