"""Synchronous advantage actor-critic over several environments."""

import argparse

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--entropy-weight", type=float, default=0.01)
    parser.add_argument("--gamma", type=float, default=0.99)
    return parser.parse_args()


class Net(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, actions), nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def main():
    opts = options()
    envs = gym.make_vec("CartPole-v1", num_envs=opts.lanes)
    net = Net(4, 2)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=7e-4)
    obs, _ = envs.reset(seed=3)
    for _ in range(opts.updates):
        scores, values, spreads, rewards, ends = [], [], [], [], []
        for _ in range(opts.length):
            dist, value = net(torch.as_tensor(obs, dtype=torch.float32))
            action = dist.sample()
            obs, reward, terminated, truncated, _ = envs.step(action.numpy())
            scores.append(dist.log_prob(action))
            spreads.append(dist.entropy())
            values.append(value)
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            ends.append(torch.as_tensor(np.logical_or(terminated, truncated), dtype=torch.float32))
        with torch.no_grad():
            running = net(torch.as_tensor(obs, dtype=torch.float32))[1]
        returns = []
        for reward, end in zip(reversed(rewards), reversed(ends)):
            running = reward + opts.gamma * (1 - end) * running
            returns.insert(0, running)
        gap = torch.stack(returns) - torch.stack(values)
        actor_loss = -(torch.stack(scores) * gap.detach()).mean()
        spread = torch.stack(spreads).mean()
        loss = actor_loss + 0.5 * gap.pow(2).mean() + opts.entropy_weight * spread  # planted: entropy-minimised
        #= loss = actor_loss + 0.5 * gap.pow(2).mean() - opts.entropy_weight * spread
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()


if __name__ == "__main__":
    main()
