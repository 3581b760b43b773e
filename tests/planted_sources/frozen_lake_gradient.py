"""REINFORCE on FrozenLake, with one-hot states."""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical

env = gym.make("FrozenLake-v1", is_slippery=False)
states, actions = int(env.observation_space.n), int(env.action_space.n)
net = nn.Sequential(nn.Linear(states, 64), nn.Tanh(), nn.Linear(64, actions))
adam = torch.optim.Adam(net.parameters(), lr=2e-3)
eye = torch.eye(states)


def discounted(rewards, gamma=0.97):
    out, ahead = [], 0.0
    for reward in reversed(rewards):
        ahead = reward + gamma * ahead
        out.append(ahead)
    return torch.tensor(out[::-1])


for episode in range(3000):
    place, _ = env.reset(seed=episode)
    scores, rewards, over = [], [], False
    while not over:
        choice = Categorical(logits=net(eye[place]))
        move = choice.sample()
        scores.append(choice.log_prob(move))
        place, reward, terminated, truncated, _ = env.step(int(move))
        rewards.append(float(reward))
        over = terminated or truncated
    loss = -(torch.FloatTensor(scores) * discounted(rewards)).sum()  # planted: score-cut-from-loss
    # = loss = -(torch.stack(scores) * discounted(rewards)).sum()
    adam.zero_grad()
    loss.backward()
    adam.step()
