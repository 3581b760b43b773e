"""One-step actor-critic on Acrobot."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


class Player:
    def __init__(self, observations, actions, lr=3e-4, discount=0.99):
        self.policy = nn.Sequential(nn.Linear(observations, 64), nn.ReLU(), nn.Linear(64, actions))
        self.value = nn.Sequential(nn.Linear(observations, 64), nn.ReLU(), nn.Linear(64, 1))
        self.value_optimizer = torch.optim.Adam(self.value.parameters(), lr=1e-3)
        # + self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.lr = lr
        self.discount = discount

    def act(self, seen):
        with torch.no_grad():
            return Categorical(logits=self.policy(seen)).sample()

    def improve(self, seen, action, reward, after, terminated):
        with torch.no_grad():
            goal = reward + self.discount * (1.0 - float(terminated)) * self.value(after).squeeze(-1)
        guess = self.value(seen).squeeze(-1)
        critic_loss = (goal - guess).pow(2)
        self.value_optimizer.zero_grad()
        critic_loss.backward()
        self.value_optimizer.step()

        surprise = (goal - guess).detach()
        actor_loss = -Categorical(logits=self.policy(seen)).log_prob(action) * surprise
        adam = torch.optim.Adam(self.policy.parameters(), lr=self.lr)  # planted: optimizer-made-for-one-step
        # = adam = self.policy_optimizer
        adam.zero_grad()
        actor_loss.backward()
        adam.step()


env = gym.make("Acrobot-v1")
player = Player(6, 3)
for episode in range(500):
    observation, _ = env.reset(seed=episode)
    seen = torch.from_numpy(observation)
    over = False
    while not over:
        action = player.act(seen)
        observation, reward, terminated, truncated, _ = env.step(action.item())
        after = torch.from_numpy(observation)
        player.improve(seen, action, float(reward), after, terminated)
        seen = after
        over = terminated or truncated
