"""A2C on Acrobot with sixteen environments, rollouts of sixteen steps."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(6, 64), nn.ReLU())
        self.actor, self.critic = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, x):
        h = self.hidden(x)
        return self.actor(h), self.critic(h).squeeze(-1)


class Trainer:
    n, t = 16, 16

    def __init__(self):
        torch.manual_seed(7)
        self.agent = Agent()
        self.optimizer = torch.optim.RMSprop(self.agent.parameters(), lr=7e-4)
        self.envs = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1")] * self.n)
        self.obs = self.envs.reset(seed=7)[0]
        self.seen = np.zeros((self.t, self.n, 6), dtype=np.float32)
        self.acts = np.zeros((self.t, self.n), dtype=np.int64)
        self.rews, self.live = np.zeros((2, self.t, self.n), dtype=np.float32)

    def play(self):
        for k in range(self.t):
            with torch.no_grad():
                logits, _ = self.agent(torch.from_numpy(self.obs))
                action = torch.multinomial(logits.softmax(-1), 1).squeeze(1).numpy()
            self.seen[k], self.acts[k] = self.obs, action
            self.obs, self.rews[k], dead, cut, _ = self.envs.step(action)
            self.live[k] = ~(dead | cut)

    def learn(self):
        with torch.no_grad():
            future = self.agent(torch.from_numpy(self.obs))[1].numpy()
        goals = np.empty_like(self.rews)
        for k in range(self.t - 1, -1, -1):
            goals[k] = future = self.rews[k] + 0.99 * self.live[k] * future
        logits, value = self.agent(torch.from_numpy(self.seen))
        gap = torch.from_numpy(goals) - value
        logp = logits.log_softmax(-1).gather(-1, torch.from_numpy(self.acts).unsqueeze(-1)).squeeze(-1)
        loss = 0.5 * gap.square().mean() - (logp * gap.detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    trainer = Trainer()
    began = time.perf_counter()
    for _ in range(320):
        trainer.play()
        last = trainer.learn()
    print(f"loss {last:.3f} seconds={time.perf_counter() - began:.3f}")
