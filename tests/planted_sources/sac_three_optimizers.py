"""The losses of SAC and their optimizers, for pendulums."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

LOW, HIGH = -5.0, 2.0


class Actor(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(states, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.mean = nn.Linear(256, actions)
        self.log_std = nn.Linear(256, actions)

    def forward(self, state):
        h = self.body(state)
        dist = Normal(self.mean(h), self.log_std(h).clamp(LOW, HIGH).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - 2 * (0.6931471805599453 - raw - F.softplus(-2 * raw))
        return action, log_prob.sum(-1)


class Learner:
    def __init__(self, states, actions, critic, critic_target):
        self.actor = Actor(states, actions)
        self.critic, self.critic_target = critic, critic_target
        self.log_alpha = nn.Parameter(torch.zeros(1))
        self.entropy_goal = -float(actions)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=3e-4)

    def update(self, state, action, reward, after, terminated):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_action, next_log_prob = self.actor(after)
            q1, q2 = self.critic_target(after, next_action)
            goal = reward + 0.99 * (1 - terminated) * (torch.min(q1, q2) - alpha * next_log_prob)
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, goal) + F.mse_loss(q2, goal)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        fresh, log_prob = self.actor(state)
        actor_loss = (alpha * log_prob - torch.min(*self.critic(state, fresh))).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        alpha_loss = -(self.log_alpha * (log_prob.detach() + self.entropy_goal)).mean()
        self.alpha_optim.zero_grad()  # planted: step-never-called
        # = self.alpha_optim.zero_grad()
        alpha_loss.backward()
        # + self.alpha_optim.step()
        return critic_loss.item(), actor_loss.item()
