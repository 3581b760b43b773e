"""DQN on CartPole: eight environments, a ring of arrays."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Ring:
    def __init__(self, room, lanes):
        self.before, self.after = np.zeros((2, room, lanes, 4), dtype=np.float32)
        self.picked = np.zeros((room, lanes), dtype=np.int64)
        self.gained, self.ended = np.zeros((2, room, lanes), dtype=np.float32)
        self.room, self.lanes, self.at = room, lanes, 0

    def write(self, before, picked, gained, after, ended):
        k = self.at % self.room
        self.before[k], self.picked[k], self.gained[k], self.after[k], self.ended[k] = before, picked, gained, after, ended
        self.at += 1

    def read(self, rng, rows):
        filled = min(self.at, self.room) * self.lanes
        index = rng.integers(0, filled, rows)
        columns = self.before.reshape(-1, 4), self.picked.reshape(-1), self.gained.reshape(-1)
        columns += self.after.reshape(-1, 4), self.ended.reshape(-1)
        return [torch.from_numpy(column[index]) for column in columns]


def network():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


def main(lanes=8, rounds=2600):
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    q, lagged = network(), network()
    lagged.load_state_dict(q.state_dict())
    adam = torch.optim.Adam(q.parameters(), lr=5e-4)
    ring = Ring(4096, lanes)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(lanes)])
    now, _ = envs.reset(seed=1)
    start = time.perf_counter()
    for n in range(rounds):
        with torch.no_grad():
            pick = q(torch.from_numpy(now)).argmax(1).numpy()
        pick = np.where(rng.random(lanes) < 0.1, rng.integers(0, 2, lanes), pick)
        then, gain, dead, _, _ = envs.step(pick)
        ring.write(now, pick, gain, then, dead)
        now = then
        if n < 64:
            continue
        s, a, r, s2, d = ring.read(rng, 128)
        with torch.no_grad():
            y = r + 0.99 * (1 - d) * lagged(s2).amax(1)
        loss = nn.functional.smooth_l1_loss(q(s).gather(1, a.unsqueeze(1)).squeeze(1), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if n % 250 == 0:
            lagged.load_state_dict(q.state_dict())
    print(f"loss {loss.item():.4f} seconds={time.perf_counter() - start:.3f}")


if __name__ == "__main__":
    main()
