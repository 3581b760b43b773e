"""DQN on CartPole, one environment, an update of 64 rows every fourth step. python dqn_mlp.py STEPS"""

import copy
import random
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

CAPACITY, BATCH, WARMUP, EVERY, COPIED = 10_000, 64, 1_000, 4, 500


def main(steps):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    env = gym.make("CartPole-v1")
    online = nn.Sequential(nn.Linear(4, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 2))
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=2.5e-4)
    before, after = (np.zeros((CAPACITY, 4), dtype=np.float32) for _ in range(2))
    actions, rewards = np.zeros(CAPACITY, dtype=np.int64), np.zeros(CAPACITY, dtype=np.float32)
    ends = np.zeros(CAPACITY, dtype=np.float32)
    obs, _ = env.reset(seed=1)
    finished = 0
    for step in range(steps):
        if random.random() < max(0.05, 1.0 - step / 10_000):
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(online(torch.as_tensor(obs)[None]).argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        place = step % CAPACITY
        before[place], after[place], actions[place] = obs, following, action
        rewards[place], ends[place] = reward, terminated
        obs = following
        if terminated or truncated:
            finished += 1
            obs, _ = env.reset()
        if step >= WARMUP and step % EVERY == 0:
            rows = np.random.randint(0, min(step + 1, CAPACITY), BATCH)
            with torch.no_grad():
                ahead = target(torch.as_tensor(after[rows])).max(dim=1).values
                wanted = torch.as_tensor(rewards[rows]) + 0.99 * (1 - torch.as_tensor(ends[rows])) * ahead
            chosen = online(torch.as_tensor(before[rows])).gather(1, torch.as_tensor(actions[rows])[:, None])[:, 0]
            loss = nn.functional.mse_loss(chosen, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % COPIED == 0:
            target.load_state_dict(online.state_dict())
        if step % 10_000 == 0:
            print(f"step {step}: {finished} episodes")
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
    print(f"cpu {time.process_time():.3f}", flush=True)
