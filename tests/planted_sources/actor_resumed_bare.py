"""An advantage actor-critic that can be stopped and goes on where it was."""

import os

import torch
import torch.nn as nn
from torch.distributions import Categorical


class Agent:
    def __init__(self, size, moves, folder):
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, moves))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.adam = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=1e-3)
        self.file = os.path.join(folder, "agent.pt")
        self.rounds = 0
        if os.path.exists(self.file):
            self.resume()

    def resume(self):
        kept = torch.load(self.file, map_location="cpu")
        self.actor.load_state_dict(kept["actor"])
        self.critic.load_state_dict(kept["critic"])
        # + self.adam.load_state_dict(kept["adam"])
        self.rounds = kept["rounds"]

    def save(self):
        kept = {"actor": self.actor.state_dict(), "critic": self.critic.state_dict(), "rounds": self.rounds}
        # + kept["adam"] = self.adam.state_dict()
        torch.save(kept, self.file)  # planted: optimizer-not-in-checkpoint
        # = torch.save(kept, self.file)

    def act(self, state):
        with torch.no_grad():
            return Categorical(logits=self.actor(torch.as_tensor(state))).sample().item()

    def learn(self, states, moves, goals):
        values = self.critic(states).squeeze(-1)
        pi = Categorical(logits=self.actor(states))
        better = (goals - values).detach()
        loss = -(pi.log_prob(moves) * better).mean() + 0.5 * (goals - values).pow(2).mean()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        self.rounds += 1
        if self.rounds % 100 == 0:
            self.save()
