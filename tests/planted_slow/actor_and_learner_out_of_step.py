# planted: PRF921 actor-and-learner-out-of-step
# part: waiting
"""Off-policy learning from a simulator that answers over a line: actors in processes, one learner."""

import multiprocessing as mp
import time

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
ACTORS = 1
CHUNK, CHUNKS = 32, 100


class RemoteTank:
    """The level of water in a tank; each answer takes a millisecond."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.level, self.flow = float(self.rng.uniform(0.2, 0.8)), 0.0
        return np.array([self.level, self.flow], dtype=np.float32)

    def step(self, valve):
        time.sleep(0.001)
        self.flow = 0.9 * self.flow + 0.05 * (valve - 1) + float(self.rng.normal(0, 0.01))
        self.level = min(max(self.level + 0.1 * self.flow, 0.0), 1.0)
        return np.array([self.level, self.flow], dtype=np.float32), -abs(self.level - 0.5)


def actor(lines, stop, seed):
    tank, rng = RemoteTank(seed), np.random.default_rng(seed)
    view = tank.reset()
    while not stop.is_set():
        chunk = np.zeros((CHUNK, 6), dtype=np.float32)
        for k in range(CHUNK):
            valve = int(rng.integers(0, 3))
            then, reward = tank.step(valve)
            chunk[k] = *view, valve, reward, *then
            view = then
        lines.put(chunk)


def learner(lines):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 3))
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    archive = np.zeros((CHUNK * CHUNKS, 6), dtype=np.float32)
    lines.get()
    started = time.perf_counter()
    for n in range(CHUNKS):
        archive[CHUNK * n : CHUNK * (n + 1)] = lines.get()  # here
        for _ in range(12):
            rows = torch.from_numpy(archive[rng.integers(0, CHUNK * (n + 1), 64)])
            s, a, r, s2 = rows.split([2, 1, 1, 2], 1)
            with torch.no_grad():
                y = r + 0.9 * model(s2).amax(1, keepdim=True)
            loss = (model(s).gather(1, a.long()) - y).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
    return loss.item(), time.perf_counter() - started


if __name__ == "__main__":
    lines, stop = mp.Queue(maxsize=2 * ACTORS), mp.Event()
    crew = [mp.Process(target=actor, args=(lines, stop, k), daemon=True) for k in range(ACTORS)]
    for each in crew:
        each.start()
    loss, seconds = learner(lines)
    stop.set()
    for each in crew:
        each.terminate()
        each.join()
    print(f"loss={loss:.5f} seconds={seconds:.3f}")
