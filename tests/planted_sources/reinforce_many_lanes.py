"""REINFORCE that plays several environments at once and learns from whole episodes."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical


def returns(rewards, gamma):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.append(total)
    return out[::-1]


def train(lanes=6, rounds=400, gamma=0.99):
    worlds = [gym.make("LunarLander-v3") for _ in range(lanes)]
    policy = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4))
    adam = optim.Adam(policy.parameters(), lr=1e-3)
    for number in range(rounds):
        now = [world.reset(seed=1000 * number + lane)[0] for lane, world in enumerate(worlds)]
        alive = [True] * lanes
        logps = [[] for _ in range(lanes)]
        rewards = [[]] * lanes  # planted: one-list-in-every-place
        # = rewards = [[] for _ in range(lanes)]
        while any(alive):
            pi = Categorical(logits=policy(torch.as_tensor(np.stack(now))))
            moves = pi.sample()
            scores = pi.log_prob(moves)
            for lane, world in enumerate(worlds):
                if not alive[lane]:
                    continue
                now[lane], reward, terminated, truncated, _ = world.step(int(moves[lane]))
                rewards[lane].append(reward)
                logps[lane].append(scores[lane])
                alive[lane] = not (terminated or truncated)
        weights = torch.tensor([value for each in rewards for value in returns(each, gamma)])
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        loss = -(torch.stack([score for each in logps for score in each]) * weights).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        print(number, sum(map(sum, rewards)) / lanes)


if __name__ == "__main__":
    train()
