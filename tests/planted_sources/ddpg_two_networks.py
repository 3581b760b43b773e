"""DDPG: critic and actor, one after the other."""

import copy

import torch
import torch.nn as nn


class Ddpg:
    def __init__(self, states, actions, lr_actor=1e-4, lr_critic=1e-3, gamma=0.99, tau=0.005, limit=1.0):
        self.actor = nn.Sequential(nn.Linear(states, 128), nn.ReLU(), nn.Linear(128, actions), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(states + actions, 128), nn.ReLU(), nn.Linear(128, 1))
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr_actor)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr_critic)
        self.gamma, self.tau, self.limit = gamma, tau, limit

    def q(self, critic, states, actions):
        return critic(torch.cat([states, actions], dim=1)).squeeze(1)

    def train(self, states, actions, rewards, next_states, terminated):
        with torch.no_grad():
            next_q = self.q(self.critic_target, next_states, self.actor_target(next_states))
            target = rewards + self.gamma * (1 - terminated) * next_q
        critic_loss = (self.q(self.critic, states, actions) - target).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), self.limit)
        self.critic_optimizer.step()

        actor_loss = -self.q(self.critic, states, self.actor(states)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), self.limit)  # planted: another-network-clipped
        # = nn.utils.clip_grad_norm_(self.actor.parameters(), self.limit)
        self.actor_optimizer.step()

        with torch.no_grad():
            for online, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for new, old in zip(online.parameters(), target.parameters(), strict=True):
                    old.mul_(1 - self.tau).add_(self.tau * new)
