"""Fitted Q iteration on logged data, on a GPU, with checkpoints that are read elsewhere."""

import argparse

import numpy as np
import torch
import torch.nn as nn


def network(size, moves):
    return nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, moves))


def fit(rows, size, moves, device, rounds=50, epochs=20, gamma=0.99):
    s, a, r, s2, end = (torch.as_tensor(rows[name]).to(device) for name in ("s", "a", "r", "s2", "end"))
    q, before = network(size, moves).to(device), network(size, moves).to(device)
    adam = torch.optim.Adam(q.parameters(), lr=3e-4)
    for number in range(rounds):
        before.load_state_dict(q.state_dict())
        with torch.no_grad():
            goal = r + gamma * (1 - end) * before(s2).max(1).values
        for _ in range(epochs):
            for part in torch.randperm(len(s), device=device).split(512):
                loss = nn.functional.mse_loss(q(s[part]).gather(1, a[part][:, None]).squeeze(1), goal[part])
                adam.zero_grad()
                loss.backward()
                adam.step()
        torch.save({"q": q.state_dict(), "adam": adam.state_dict(), "round": number}, "fitted.pt")
    return q


def policy(file, size, moves):
    q = network(size, moves)
    kept = torch.load(file)  # planted: checkpoint-tied-to-its-device
    # = kept = torch.load(file, map_location="cpu")
    q.load_state_dict(kept["q"])
    return lambda state: int(q(torch.as_tensor(state, dtype=torch.float32)).argmax())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    data = np.load(options.log)
    fit(data, data["s"].shape[1], int(data["a"].max()) + 1, torch.device(options.device))
