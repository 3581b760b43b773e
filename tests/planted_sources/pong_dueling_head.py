"""Dueling DQN for pictures; the value head is as wide as the convolutions leave it."""

import numpy as np
import torch
from torch import nn


class Dueling(nn.Module):
    def __init__(self, frames: int, actions: int):
        super().__init__()
        self.eyes = nn.Sequential(
            nn.Conv2d(frames, 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.gain = nn.Sequential(nn.Linear(5184, 256), nn.ReLU(), nn.Linear(256, actions))
        # + self.worth = nn.Linear(5184, 1)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        seen = self.eyes(picture / 255.0)
        gain = self.gain(seen)
        worth = nn.Linear(5184, 1).to(seen.device)(seen)  # planted: layer-made-in-forward
        # = worth = self.worth(seen)
        return worth + gain - gain.mean(dim=-1, keepdim=True)


@torch.no_grad()
def choose(net: Dueling, picture: np.ndarray, epsilon: float, rng: np.random.Generator, actions: int) -> int:
    if rng.random() < epsilon:
        return int(rng.integers(actions))
    return int(net(torch.as_tensor(picture).unsqueeze(0)).argmax())


def learn(net: Dueling, older: Dueling, optimizer: torch.optim.Optimizer, batch, gamma: float = 0.99) -> float:
    pictures, actions, rewards, following, ended = batch
    with torch.no_grad():
        best = net(following).argmax(dim=1, keepdim=True)
        goal = rewards + gamma * (1.0 - ended) * older(following).gather(1, best).squeeze(1)
    guess = net(pictures).gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(guess, goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 10.0)
    optimizer.step()
    return float(loss)
