# planted: PRF902 tensor-made-per-step
# part: buffer write
"""DQN on Acrobot; every number of every transition is made a tensor before it goes into the memory."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Store:
    def __init__(self, room, width):
        self.states, self.nexts = torch.zeros(2, room, width)
        self.acts = torch.zeros(room, dtype=torch.int64)
        self.gains, self.stops = torch.zeros(2, room)
        self.at, self.full, self.room = 0, 0, room

    def write(self, lanes, state, act, gain, following, stop):
        for lane in range(lanes):
            entry = (state[lane], act[lane], gain[lane], following[lane], stop[lane])
            state_, act_, gain_, next_, stop_ = [torch.tensor(each.tolist()) for each in entry]  # here
            self.states[self.at], self.acts[self.at], self.gains[self.at] = state_, act_, gain_
            self.nexts[self.at], self.stops[self.at] = next_, stop_
            self.at = (self.at + 1) % self.room
        self.full = min(self.full + lanes, self.room)

    def draw(self, n):
        rows = torch.randint(self.full, (n,))
        return self.states[rows], self.acts[rows], self.gains[rows], self.nexts[rows], self.stops[rows]


def network():
    return nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


def train(lanes=8, rounds=4500, learn_every=4):
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    online, frozen = network(), network()
    frozen.load_state_dict(online.state_dict())
    learner = torch.optim.Adam(online.parameters(), 1e-3)
    store = Store(16384, 6)
    acrobots = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1") for _ in range(lanes)])
    started = time.perf_counter()
    state, _ = acrobots.reset(seed=0)
    for n in range(rounds):
        with torch.no_grad():
            act = online(torch.from_numpy(state)).argmax(1).numpy()
        act = np.where(rng.random(lanes) < 0.1, rng.integers(3, size=lanes), act)
        following, gain, stop, _, _ = acrobots.step(act)
        store.write(lanes, state, act, gain, following, stop)
        state = following
        if n % learn_every == 0 and n > 32:
            s, a, r, s2, d = store.draw(64)
            with torch.no_grad():
                y = r + 0.99 * (1 - d) * frozen(s2).max(1).values
            td = nn.functional.smooth_l1_loss(online(s).gather(1, a[:, None])[:, 0], y)
            learner.zero_grad()
            td.backward()
            learner.step()
            if n % 400 == 0:
                frozen.load_state_dict(online.state_dict())
    return td.item(), time.perf_counter() - started


if __name__ == "__main__":
    print("td %.4f seconds=%.3f" % train())
