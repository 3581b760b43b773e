"""QMIX with a hard update of the mixing network."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Mixer(nn.Module):
    def __init__(self, agents, width):
        super().__init__()
        self.weights = nn.Linear(width, agents)
        self.bias = nn.Linear(width, 1)

    def forward(self, chosen, state):
        return (chosen * self.weights(state).abs()).sum(-1, keepdim=True) + self.bias(state)


class Learner:
    def __init__(self, agents, width, lr):
        self.mixer = Mixer(agents, width)
        self.old_mixer = Mixer(agents, width)
        self.old_mixer.load_state_dict(self.mixer.state_dict())
        self.optimiser = torch.optim.RMSprop(self.mixer.parameters(), lr=lr)
        self.rounds = 0

    def train(self, chosen, best, state, after, reward, ended, gamma=0.99):
        with torch.no_grad():
            goal = reward + gamma * (1.0 - ended) * self.old_mixer(best, after)
        error = F.mse_loss(self.mixer(chosen, state), goal)
        self.optimiser.zero_grad()
        error.backward()
        self.optimiser.step()
        self.rounds += 1
        if self.rounds % 200 == 0:
            self.old_mixer.load_state_dict(self.old_mixer.state_dict())  # planted: loads-its-own-weights
            # = self.old_mixer.load_state_dict(self.mixer.state_dict())
        return error.item()
