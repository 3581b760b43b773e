"""PPO on a grid of parallel environments; the minibatch step with a clipped value loss."""

import torch
from torch import nn, optim
from torch.distributions import Categorical


class Both(nn.Module):
    def __init__(self, channels, actions):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(channels, 16, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(128), nn.ReLU())
        self.actor = nn.Linear(128, actions)
        self.critic = nn.Linear(128, 1)

    def forward(self, image):
        seen = self.look(image)
        return Categorical(logits=self.actor(seen)), self.critic(seen).squeeze(1)


class Trainer:
    def __init__(self, net, clip_eps=0.2, entropy_coef=0.01, lr=2.5e-4):
        self.net = net
        self.clip_eps = clip_eps
        self.entropy_coef = entropy_coef
        self.optimizer = optim.Adam(net.parameters(), lr=lr, eps=1e-5)

    def minibatch(self, obs, action, old_log_prob, old_value, advantage, returnn):
        dist, value = self.net(obs)
        ratio = torch.exp(dist.log_prob(action) - old_log_prob)
        plain = ratio * advantage
        held = torch.clamp(ratio, 1.0 - self.clip_eps, 1.0 + self.clip_eps) * advantage
        policy_loss = -torch.min(plain, held).mean()
        value_clipped = torch.clamp(value, -self.clip_eps, self.clip_eps)  # planted: value-clamped-to-range
        #= value_clipped = old_value + torch.clamp(value - old_value, -self.clip_eps, self.clip_eps)
        first = (value - returnn).pow(2)
        second = (value_clipped - returnn).pow(2)
        value_loss = torch.max(first, second).mean()
        loss = policy_loss + 0.5 * value_loss - self.entropy_coef * dist.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        return policy_loss.item(), value_loss.item()
