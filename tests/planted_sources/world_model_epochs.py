"""A model of the environment's dynamics, trained for some epochs on what was collected."""

import torch
from torch import nn, optim


def train_dynamics(model: nn.Module, frames, epochs: int = 5):
    adam = optim.AdamW(model.parameters(), lr=1e-3)
    history = []
    for epoch in range(epochs):
        seen = 0.0
        for state, action, after in frames:
            guess = model(torch.cat([state, action], dim=-1))
            distance = (guess - after).square().mean()
            adam.zero_grad()
            distance.backward()
            adam.step()
            seen += distance  # planted: loss-summed-with-its-graph
            # = seen += distance.item()
        history.append(seen / len(frames))
        print(f"epoch {epoch}: {history[-1]:.4f}")
    return history
