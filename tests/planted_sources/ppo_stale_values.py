"""PPO for pictures of a maze: separate epochs for the value."""

import torch
import torch.nn as nn
from torch.distributions import Categorical


class Maze(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.eyes = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Flatten())
        self.policy = nn.Linear(32 * 15 * 15, actions)

    def forward(self, x):
        return Categorical(logits=self.policy(self.eyes(x)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.eyes = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Flatten())
        self.out = nn.Linear(32 * 15 * 15, 1)

    def forward(self, x):
        return self.out(self.eyes(x)).squeeze(-1)


def improve(actor: Maze, critic: Critic, batch, epochs=4, clip=0.2, rate=2.5e-4):
    actor_adam = torch.optim.Adam(actor.parameters(), lr=rate)
    critic_adam = torch.optim.Adam(critic.parameters(), lr=rate)
    pictures, actions, old, returns, advantages = batch
    values = critic(pictures)
    for _ in range(epochs):
        policy = actor(pictures)
        ratio = torch.exp(policy.log_prob(actions) - old)
        clipped = ratio.clamp(1 - clip, 1 + clip)
        actor_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        actor_adam.zero_grad()
        actor_loss.backward()
        actor_adam.step()

        # + values = critic(pictures)
        critic_loss = (returns - values).pow(2).mean()
        critic_adam.zero_grad()
        critic_loss.backward(retain_graph=True)  # planted: graph-kept-through-steps
        # = critic_loss.backward()
        critic_adam.step()
