"""Actor-critic over a batch of whole episodes."""

import torch
import torch.nn as nn
from torch.distributions import Categorical

GAMMA = 0.98


def episode_returns(rewards, discount):
    following = 0.0
    returns = torch.zeros(len(rewards))
    for t in reversed(range(len(rewards))):
        following = rewards[t] + following  # planted: discount-given-not-used
        #= following = rewards[t] + discount * following
        returns[t] = following
    return returns


class Model(nn.Module):
    def __init__(self, inputs, hidden, actions):
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.logits = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return self.logits(h), self.value(h)[:, 0]


def loss_of(model, episodes):
    observations = torch.cat([torch.stack(each.observations) for each in episodes])
    actions = torch.cat([torch.tensor(each.actions) for each in episodes])
    returns = torch.cat([episode_returns(each.rewards, GAMMA) for each in episodes])
    logits, values = model(observations)
    dist = Categorical(logits=logits)
    advantages = (returns - values).detach()
    policy = -(dist.log_prob(actions) * advantages).mean()
    value = (values - returns).pow(2).mean()
    return policy + 0.5 * value - 0.01 * dist.entropy().mean()


def train(model, play, rounds=1000):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(rounds):
        loss = loss_of(model, [play(model) for _ in range(8)])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
