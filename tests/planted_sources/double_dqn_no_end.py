"""Double DQN for a lunar lander."""

import random
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.nn.functional import huber_loss

Move = namedtuple("Move", "obs act rew nxt end")


class Memory:
    def __init__(self, size):
        self.moves = deque(maxlen=size)

    def push(self, *parts):
        self.moves.append(Move(*parts))

    def draw(self, count):
        picked = random.sample(self.moves, count)
        return [torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*picked)]


def network():
    return nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))


def main(frames=200_000, discount=0.99):
    env = gym.make("LunarLander-v3")
    online, delayed = network(), network()
    delayed.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=5e-4)
    memory = Memory(100_000)
    obs, _ = env.reset(seed=0)
    for frame in range(frames):
        if random.random() < max(0.02, 1 - frame / 50_000):
            act = env.action_space.sample()
        else:
            with torch.no_grad():
                act = online(torch.as_tensor(obs)).argmax().item()
        nxt, rew, terminated, truncated, _ = env.step(act)
        memory.push(obs, act, rew, nxt, terminated)
        obs = nxt
        if terminated or truncated:
            obs, _ = env.reset()
        if frame < 5000 or frame % 4:
            continue
        o, a, r, n, e = memory.draw(64)
        with torch.no_grad():
            pick = online(n).argmax(1, keepdim=True)
            goal = r + discount * delayed(n).gather(1, pick).squeeze(1)  # planted: end-flag-never-read
            #= goal = r + discount * (1 - e) * delayed(n).gather(1, pick).squeeze(1)
        guess = online(o).gather(1, a.long().unsqueeze(1)).squeeze(1)
        loss = huber_loss(guess, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if frame % 1000 == 0:
            delayed.load_state_dict(online.state_dict())


if __name__ == "__main__":
    main()
