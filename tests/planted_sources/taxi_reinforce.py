"""REINFORCE on Taxi, states as one-hot vectors."""

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Driver(nn.Module):
    def __init__(self, places, moves):
        super().__init__()
        self.places = places
        self.inner = nn.Linear(places, 64)
        self.outer = nn.Linear(64, moves)

    def forward(self, place):
        x = F.one_hot(place, self.places).float()
        return self.outer(F.relu(self.inner(x)))


env = gym.make("Taxi-v3")
driver = Driver(env.observation_space.n, env.action_space.n)
adam = torch.optim.Adam(driver.parameters(), lr=2e-3)

for ride in range(3000):
    logps, fares = [], []
    place, _ = env.reset()
    done = False
    while not done:
        pi = Categorical(driver(torch.tensor(place)))  # planted: logits-given-as-probabilities
        # = pi = Categorical(logits=driver(torch.tensor(place)))
        move = pi.sample()
        place, fare, terminated, truncated, _ = env.step(move.item())
        logps.append(pi.log_prob(move))
        fares.append(fare)
        done = terminated or truncated
    worth, total = [], 0.0
    for fare in reversed(fares):
        total = fare + 0.98 * total
        worth.insert(0, total)
    worth = torch.tensor(worth)
    worth = (worth - worth.mean()) / (worth.std() + 1e-6)
    adam.zero_grad()
    (-(torch.stack(logps) * worth).sum()).backward()
    adam.step()
