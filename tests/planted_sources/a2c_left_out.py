"""Advantage actor-critic with an optimizer for everything."""

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F


class Actor(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_act))

    def forward(self, obs):
        return Categorical(logits=self.layers(obs))


class Pair:
    def __init__(self, n_obs, n_act, lr=7e-4):
        self.actor = Actor(n_obs, n_act)
        self.critic = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, 1))
        self.optimizer = torch.optim.RMSprop([*self.actor.parameters(), *self.critic.parameters()], lr=lr)

    def returns(self, rewards, ends, last, gamma=0.99):
        out, following = [], last
        for reward, end in zip(reversed(rewards), reversed(ends)):
            following = reward + gamma * (1 - end) * following
            out.insert(0, following)
        return torch.stack(out)

    def update(self, obs, act, rewards, ends, last):
        goal = self.returns(rewards, ends, last)
        values = self.critic(obs).squeeze(-1)
        dist = self.actor(obs)
        actor_loss = -(dist.log_prob(act) * (goal - values).detach()).mean()
        critic_loss = F.mse_loss(values, goal)  # planted: loss-only-reported
        #= critic_loss = F.mse_loss(values, goal)
        total = actor_loss - 0.01 * dist.entropy().mean()
        #+ total = total + 0.5 * critic_loss
        self.optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], 0.5)
        self.optimizer.step()
        return {"actor": actor_loss.item(), "critic": critic_loss.item()}
