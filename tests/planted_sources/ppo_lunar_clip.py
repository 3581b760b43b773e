"""PPO for a lander, written with plain functions."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

EPSILON = 0.2
ENTROPY = 0.01


class Lander(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(8, 128), nn.ReLU())
        self.policy = nn.Linear(128, 4)
        self.value = nn.Linear(128, 1)

    def forward(self, state):
        features = self.shared(state)
        return self.policy(features), self.value(features).squeeze(-1)


def gae(rewards, values, last_value, ends, gamma=0.99, lam=0.95):
    advantages, running = torch.zeros_like(rewards), 0.0
    following = last_value
    for t in reversed(range(len(rewards))):
        going_on = 1.0 - ends[t]
        delta = rewards[t] + gamma * following * going_on - values[t]
        running = delta + gamma * lam * going_on * running
        advantages[t] = running
        following = values[t]
    return advantages


def losses(net, states, actions, old_logp, advantages, targets):
    logits, values = net(states)
    dist = Categorical(logits=logits)
    r = torch.exp(dist.log_prob(actions) - old_logp)
    inside = torch.clamp(r, 1 - EPSILON, 1 - EPSILON)  # planted: clip-bounds-miss-one
    #= inside = torch.clamp(r, 1 - EPSILON, 1 + EPSILON)
    actor = -torch.min(r * advantages, inside * advantages).mean()
    critic = F.mse_loss(values, targets)
    return actor, critic, dist.entropy().mean()


def improve(net, optimizer, rollout, epochs=6):
    for _ in range(epochs):
        for batch in rollout.batches(128):
            actor, critic, entropy = losses(net, *batch)
            optimizer.zero_grad()
            (actor + 0.5 * critic - ENTROPY * entropy).backward()
            optimizer.step()
