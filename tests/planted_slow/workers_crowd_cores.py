# planted: PRF907 workers-crowd-cores
# part: waiting
"""A2C with actors in processes: each plays some environments and has its own copy of the policy."""

import multiprocessing as mp
import time

import numpy as np
import torch
from torch import nn

LANES, UNROLL = 32, 16


class Pendulums:
    """Some pendulums in arrays, integrated in small steps."""

    def __init__(self, how_many, seed):
        self.rng = np.random.default_rng(seed)
        self.angle = self.rng.uniform(-3, 3, how_many)
        self.speed = np.zeros(how_many)

    def look(self):
        return np.stack([np.cos(self.angle), np.sin(self.angle), self.speed], 1).astype(np.float32)

    def reset(self):
        return self.look()

    def step(self, torque):
        for _ in range(8):
            self.speed = np.clip(self.speed + 0.01 * (10 * np.sin(self.angle) + 3 * torque), -8, 8)
            self.angle = self.angle + 0.01 * self.speed
        return self.look(), -((np.cos(self.angle) - 1) ** 2) - 0.01 * self.speed**2


def build():
    return nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))


def play(pipe, how_many, seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    world, brain = Pendulums(how_many, seed), build()
    view = world.reset()
    while (weights := pipe.recv()) is not None:
        brain.load_state_dict({name: torch.from_numpy(each) for name, each in weights.items()})
        views, picks, gains = [], [], []
        for _ in range(UNROLL):
            with torch.no_grad():
                logits = brain(torch.from_numpy(view))[:, :3]
            pick = torch.multinomial(logits.softmax(1), 1)[:, 0].numpy()
            views.append(view)
            picks.append(pick)
            view, gain = world.step(pick - 1.0)
            gains.append(gain)
        pipe.send((np.array(views), np.array(picks), np.array(gains, dtype=np.float32)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    crowd = 16
    pipes, processes = [], []
    for k in range(crowd):
        ours, theirs = mp.Pipe()
        process = mp.Process(target=play, args=(theirs, LANES // crowd, k), daemon=True)
        process.start()
        pipes.append(ours)
        processes.append(process)
    brain = build()
    optimizer = torch.optim.Adam(brain.parameters(), lr=1e-3)
    since = time.perf_counter()
    for _ in range(250):
        weights = {name: each.numpy().copy() for name, each in brain.state_dict().items()}
        for pipe in pipes:
            pipe.send(weights)
        got = [pipe.recv() for pipe in pipes]  # here
        views, picks, gains = (np.concatenate(each, 1) for each in zip(*got))
        togo = torch.from_numpy(np.cumsum(gains[::-1], 0)[::-1].copy()).flatten()
        out = brain(torch.from_numpy(views).flatten(0, 1))
        gap = togo - out[:, 3]
        logp = out[:, :3].log_softmax(1).gather(1, torch.from_numpy(picks).view(-1, 1))[:, 0]
        loss = gap.square().mean() - (logp * gap.detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f} seconds={time.perf_counter() - since:.3f}")
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
