"""An actor-critic that learns from environments in processes of their own: `served.py pipes|queue [wrong]`."""

import copy
import multiprocessing
import sys

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

WAY, FORGETS, STALE = sys.argv[1], "forget-ends" in sys.argv, "stale-actors" in sys.argv
LANES, LENGTH, UPDATES, GAMMA = 4, 10, 160 if STALE else 40, 0.9  # actors are looked at now and then


class Walk:
    """A noisy walk along a line: the reward is how far to the right it is, and it ends at both borders."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def reset(self):
        self.place, self.wind = float(self.random.normal()), float(self.random.normal())
        return self.seen()

    def seen(self):
        return np.array([self.place, self.wind], dtype=np.float32)

    def step(self, action):
        self.wind = 0.5 * self.wind + 0.3 * float(self.random.normal())
        self.place += (0.4 if action else -0.4) + self.wind
        return self.seen(), self.place, abs(self.place) > 3.0


def serve(pipe, seed):
    walk = Walk(seed)
    pipe.send(walk.reset())
    while (action := pipe.recv()) is not None:
        seen, reward, done = walk.step(action)
        pipe.send((walk.reset() if done else seen, reward, done))


def play(queue, seed, net):
    """What actors bring to a learner: stretches of LENGTH steps."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    walk = Walk(seed)
    seen = walk.reset()
    net = copy.deepcopy(net) if STALE else net
    while True:
        rows = []
        for _ in range(LENGTH):
            with torch.no_grad():
                action = int(Categorical(logits=net(torch.from_numpy(seen))[..., :2]).sample())
            after, reward, done = walk.step(action)
            rows.append((seen, action, reward, done))
            seen = walk.reset() if done else after
        queue.put((rows, seen))


def from_pipes(net):
    ends = []
    for lane in range(LANES):
        here, there = multiprocessing.Pipe()
        multiprocessing.Process(target=serve, args=(there, lane), daemon=True).start()
        ends.append(here)
    seen = np.stack([each.recv() for each in ends])
    while True:
        rows = []
        for _ in range(LENGTH):
            with torch.no_grad():
                actions = Categorical(logits=net(torch.from_numpy(seen))[..., :2]).sample().numpy()
            for each, action in zip(ends, actions, strict=True):
                each.send(int(action))
            after, rewards, dones = map(np.array, zip(*(each.recv() for each in ends), strict=True))
            rows.append((seen, actions, rewards, dones))
            seen = after
        yield rows, seen


def from_queue(net):
    queue = multiprocessing.Queue(maxsize=LANES)
    for lane in range(2):
        multiprocessing.Process(target=play, args=(queue, lane, net), daemon=True).start()
    while True:
        brought = [queue.get() for _ in range(LANES)]
        steps = zip(*(rows for rows, _ in brought), strict=True)
        rows = [tuple(map(np.array, zip(*each, strict=True))) for each in steps]
        yield rows, np.stack([seen for _, seen in brought])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 3)).share_memory()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    batches = (from_pipes if WAY == "pipes" else from_queue)(net)
    for _ in range(UPDATES):
        rows, last = next(batches)
        seen, actions, rewards, dones = (torch.from_numpy(np.stack(each)) for each in zip(*rows, strict=True))
        with torch.no_grad():
            ahead = net(torch.from_numpy(last))[..., 2]
        targets = torch.zeros(LENGTH, LANES)
        for t in reversed(range(LENGTH)):
            goes_on = 1.0 if FORGETS else 1.0 - dones[t].float()
            ahead = targets[t] = rewards[t].float() + GAMMA * ahead * goes_on
        told = net(seen)
        gained = targets - told[..., 2]
        log_probs = Categorical(logits=told[..., :2]).log_prob(actions)
        loss = (0.5 * gained.pow(2) - log_probs * gained.detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("weights", sum(each.double().sum().item() for each in net.parameters()))


if __name__ == "__main__":
    main()
