"""A2C by two processes that average their gradients, each meant to have one thread."""

import multiprocessing as mp
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"

import gymnasium as gym
import numpy as np
import torch
from torch import nn

UPDATES, UNROLL, LANES, DRIFTS = 10, 16, 32, 1000


class Reach(gym.vector.VectorEnv):
    """Points on a plane that are pushed towards the middle."""

    def __init__(self, seed):
        self.num_envs, self.rng = LANES, np.random.default_rng(seed)
        self.single_observation_space = gym.spaces.Box(-10, 10, (6,), np.float32)
        self.single_action_space = gym.spaces.Discrete(6)

    def reset(self, *, seed=None, options=None):
        self.at = self.rng.normal(0, 1, (LANES, 6)).astype(np.float32)
        return self.at, {}

    def step(self, push):
        for _ in range(DRIFTS):
            self.at = 0.9999 * self.at + self.rng.normal(0, 0.003, (LANES, 6)).astype(np.float32)
        self.at[np.arange(LANES), push % 6] *= 0.8
        never = np.zeros(LANES, dtype=bool)
        return self.at, -np.abs(self.at).sum(1), never, never, {}


class Brain(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.move, self.worth = nn.Linear(256, 6), nn.Linear(256, 1)


def gradient(net, world, start):
    seen, pushed, gained = [], [], []
    for _ in range(UNROLL):
        with torch.no_grad():
            push = torch.multinomial(net.move(net.body(torch.from_numpy(start))).softmax(1), 1)[:, 0].numpy()
        seen.append(start)
        pushed.append(push)
        start, reward, _, _, _ = world.step(push)
        gained.append(reward)
    togo = torch.from_numpy(np.cumsum(np.array(gained)[::-1], 0)[::-1].astype(np.float32)).flatten()
    hidden = net.body(torch.from_numpy(np.concatenate(seen)))
    gap = togo - net.worth(hidden)[:, 0]
    logp = net.move(hidden).log_softmax(1).gather(1, torch.from_numpy(np.concatenate(pushed))[:, None])[:, 0]
    loss = gap.square().mean() - (logp * gap.detach()).mean()
    net.zero_grad()
    loss.backward()
    return start, loss.item()


def helper(pipe, seed):
    torch.manual_seed(seed)
    net, world = Brain(), Reach(seed)
    start, _ = world.reset()
    while (weights := pipe.recv()) is not None:
        nn.utils.vector_to_parameters(torch.from_numpy(weights), net.parameters())
        start, _ = gradient(net, world, start)
        pipe.send(torch.cat([each.grad.flatten() for each in net.parameters()]).numpy())


def main():
    helpers = []
    for k in (1,):
        ours, theirs = mp.Pipe()
        mp.Process(target=helper, args=(theirs, k), daemon=True).start()
        helpers.append(ours)
    torch.manual_seed(0)
    net, world = Brain(), Reach(0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    start, _ = world.reset()
    begun = time.perf_counter()
    for _ in range(UPDATES):
        weights = nn.utils.parameters_to_vector(net.parameters()).detach().numpy()
        for pipe in helpers:
            pipe.send(weights)
        start, loss = gradient(net, world, start)
        others = torch.from_numpy(sum(pipe.recv() for pipe in helpers))
        at = 0
        for each in net.parameters():
            each.grad += others[at : at + each.numel()].view_as(each)
            each.grad /= 2
            at += each.numel()
        optimizer.step()
    print(f"loss {loss:.3f} seconds={time.perf_counter() - begun:.3f}")
    for pipe in helpers:
        pipe.send(None)


if __name__ == "__main__":
    main()
