"""REINFORCE on CartPole, one episode at a time."""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Pilot(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, actions))

    def forward(self, x):
        return Categorical(logits=self.body(x))


def rewards_to_go(rewards, gamma):
    out, total = [], 0.0
    for r in reversed(rewards):
        total = r + gamma * total
        out.insert(0, total)
    out = torch.tensor(out)
    return (out - out.mean()) / (out.std() + 1e-8)


def play(env, pilot):
    scores, rewards = [], []
    obs, _ = env.reset()
    over = False
    while not over:
        dist = pilot(torch.as_tensor(obs, dtype=torch.float32))
        action = dist.sample()
        scores.append(dist.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        over = terminated or truncated
    return torch.stack(scores), rewards


def main(episodes=500, gamma=0.99):
    torch.manual_seed(0)
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    pilot = Pilot(4, 2)
    optimizer = torch.optim.Adam(pilot.parameters(), lr=5e-3)
    for episode in range(episodes):
        scores, rewards = play(env, pilot)
        credit = rewards_to_go(rewards, gamma)
        objective = (scores * credit).mean()  # planted: return-minimised
        #= objective = -(scores * credit).mean()
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()
        if episode % 20 == 0:
            print(episode, sum(rewards))


if __name__ == "__main__":
    main()
