# planted: PRF904 acting-on-batch-one
# part: acting
"""DDPG on MountainCarContinuous, one class; the network is asked for every single step."""

import copy
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(2, 128), nn.Linear(128, 128), nn.Linear(128, 1)

    def forward(self, state):
        return torch.tanh(self.l3(F.relu(self.l2(F.relu(self.l1(state))))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(3, 128), nn.Linear(128, 128), nn.Linear(128, 1)

    def forward(self, state, action):
        x = torch.cat([state, action], 1)
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class DDPG:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def select_action(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state).unsqueeze(0)).numpy()[0]  # here

    def train(self, state, action, reward, next_state, not_done):
        with torch.no_grad():
            target_q = reward + not_done * 0.99 * self.critic_target(next_state, self.actor_target(next_state))
        critic_loss = F.mse_loss(self.critic(state, action), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic(state, self.actor(state)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        for net, lagged in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            with torch.no_grad():
                torch._foreach_lerp_(list(lagged.parameters()), list(net.parameters()), 0.005)
        return critic_loss.item()


def run(max_timesteps=40_000, train_every=64, seed=2):
    torch.manual_seed(seed)
    noise = np.random.default_rng(seed)
    agent = DDPG()
    seen = np.zeros((max_timesteps, 7), dtype=np.float32)
    env = gym.make("MountainCarContinuous-v0")
    start = time.perf_counter()
    state, _ = env.reset(seed=seed)
    for t in range(max_timesteps):
        action = agent.select_action(state)
        action = np.clip(action + noise.normal(0, 0.3, 1), -1, 1).astype(np.float32)
        next_state, reward, terminated, truncated, _ = env.step(action)
        seen[t] = *state, *action, reward, *next_state, not terminated
        state = env.reset()[0] if terminated or truncated else next_state
        if t >= 1024 and t % train_every == 0:
            rows = torch.from_numpy(seen[noise.integers(0, t, 128)])
            loss = agent.train(rows[:, :2], rows[:, 2:3], rows[:, 3:4], rows[:, 4:6], rows[:, 6:])
    return loss, time.perf_counter() - start


if __name__ == "__main__":
    print("critic loss {:.4f} seconds={:.3f}".format(*run()))
