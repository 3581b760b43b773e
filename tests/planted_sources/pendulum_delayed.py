"""TD3 on Pendulum, the part that decides when the actor is updated."""

import copy

import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 1))
        self.b = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, state, action):
        x = torch.cat([state, action], dim=1)
        return self.a(x).squeeze(1), self.b(x).squeeze(1)


class Td3:
    def __init__(self, states=3, actions=1, reach=2.0, delay=2):
        self.actor = nn.Sequential(nn.Linear(states, 256), nn.ReLU(), nn.Linear(256, actions), nn.Tanh())
        self.critic = Twin(states + actions)
        self.actor_slow, self.critic_slow = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_adam = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.reach, self.delay, self.rounds = reach, delay, 0

    def train(self, states, actions, rewards, following, ended):
        # + self.rounds += 1
        with torch.no_grad():
            noise = (0.2 * torch.randn_like(actions)).clamp(-0.5, 0.5)
            move = (self.reach * self.actor_slow(following) + noise).clamp(-self.reach, self.reach)
            goal = rewards + 0.99 * (1 - ended) * torch.min(*self.critic_slow(following, move))
        one, two = self.critic(states, actions)
        loss = nn.functional.mse_loss(one, goal) + nn.functional.mse_loss(two, goal)
        self.critic_adam.zero_grad()
        loss.backward()
        self.critic_adam.step()
        due = self.rounds % self.delay == 0  # planted: counter-never-moves
        # = due = self.rounds % self.delay == 0
        if due:
            gain = self.critic(states, self.reach * self.actor(states))[0].mean()
            self.actor_adam.zero_grad()
            (-gain).backward()
            self.actor_adam.step()
            with torch.no_grad():
                for slow, fast in ((self.actor_slow, self.actor), (self.critic_slow, self.critic)):
                    for old, new in zip(slow.parameters(), fast.parameters(), strict=True):
                        old.lerp_(new, 0.005)
