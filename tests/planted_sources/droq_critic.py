"""DroQ: critics with dropout and layer norm, updated many times per step."""

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self, states, actions, width=256, drop=0.01):
        super().__init__()
        self.one = nn.Linear(states + actions, width)
        self.two = nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.out = nn.Linear(width, 1)
        self.drop = drop

    def forward(self, state, action):
        x = torch.cat([state, action], dim=-1)
        for layer, norm in zip((self.one, self.two), self.norms, strict=True):
            x = F.dropout(layer(x), self.drop)  # planted: dropout-never-switched-off
            # = x = F.dropout(layer(x), self.drop, training=self.training)
            x = F.relu(norm(x))
        return self.out(x).squeeze(-1)


class Droq:
    def __init__(self, states, actions, actor):
        self.actor = actor
        self.critics = nn.ModuleList([Critic(states, actions), Critic(states, actions)])
        self.slow = nn.ModuleList([Critic(states, actions), Critic(states, actions)])
        self.slow.load_state_dict(self.critics.state_dict())
        self.slow.eval()
        self.optimizer = torch.optim.Adam(self.critics.parameters(), lr=3e-4)

    def update(self, batch, gamma=0.99, tau=0.005, alpha=0.1):
        state, action, reward, after, terminated = batch
        with torch.no_grad():
            following, log_prob = self.actor(after)
            least = torch.min(*[each(after, following) for each in self.slow])
            goal = reward + gamma * (1 - terminated) * (least - alpha * log_prob)
        loss = sum(F.mse_loss(each(state, action), goal) for each in self.critics)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.slow.parameters(), self.critics.parameters(), strict=True):
                old.lerp_(new, tau)
