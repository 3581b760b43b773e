"""REINFORCE with dropout in the policy, as in a well-known lesson."""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, hidden), nn.Dropout(p=0.6), nn.ReLU())
        self.outer = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.outer(self.inner(x))


def play(env, policy):
    state, _ = env.reset()
    states, moves, rewards = [], [], []
    over = False
    # + policy.eval()
    while not over:
        x = torch.from_numpy(state)
        with torch.no_grad():
            move = Categorical(logits=policy(x)).sample()  # planted: never-in-evaluation-mode
            # = move = Categorical(logits=policy(x)).sample()
        state, reward, terminated, truncated, _ = env.step(move.item())
        states.append(x)
        moves.append(move)
        rewards.append(reward)
        over = terminated or truncated
    return torch.stack(states), torch.stack(moves), rewards


def main(episodes=500, gamma=0.99):
    env = gym.make("CartPole-v1")
    policy = Policy()
    adam = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for number in range(episodes):
        states, moves, rewards = play(env, policy)
        worth, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + gamma * total
            worth.insert(0, total)
        worth = torch.tensor(worth)
        worth = (worth - worth.mean()) / (worth.std() + 1e-8)
        # + policy.train()
        loss = -(Categorical(logits=policy(states)).log_prob(moves) * worth).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
        if number % 20 == 0:
            print(number, sum(rewards))


if __name__ == "__main__":
    main()
