"""DQN from four 84×84 frames, the network of Nature, 32 rows every fourth step. python dqn_cnn.py STEPS"""

import copy
import random
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

CAPACITY, BATCH, WARMUP, EVERY, COPIED = 2_000, 32, 200, 4, 400


class Falling(gym.Env):
    """A ball falls, a bat catches it: +1 or -1 at the bottom. The last four frames, as bytes."""

    observation_space = gym.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball, self.row, self.bat = int(self.np_random.integers(0, 78)), 0, 40
        self.frames = np.zeros((4, 84, 84), dtype=np.uint8)
        return self._draw(), {}

    def step(self, action):
        self.row += 4
        self.bat = int(np.clip(self.bat + 6 * (action - 1), 0, 72))
        over = self.row >= 76
        reward = (1.0 if self.bat - 6 <= self.ball <= self.bat + 12 else -1.0) if over else 0.0
        return self._draw(), reward, over, False, {}

    def _draw(self):
        frames = np.empty_like(self.frames)
        frames[:3] = self.frames[1:]
        frames[3] = 0
        frames[3, self.row : self.row + 6, self.ball : self.ball + 6] = 255
        frames[3, 80:, self.bat : self.bat + 12] = 200
        self.frames = frames
        return frames


def main(steps):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    env = Falling()
    online = nn.Sequential(
        nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1), nn.ReLU(),
        nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 3),
    )  # fmt: skip
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-4)
    before, after = (np.zeros((CAPACITY, 4, 84, 84), dtype=np.uint8) for _ in range(2))
    actions, rewards = np.zeros(CAPACITY, dtype=np.int64), np.zeros(CAPACITY, dtype=np.float32)
    ends = np.zeros(CAPACITY, dtype=np.float32)
    obs, _ = env.reset(seed=1)
    for step in range(steps):
        if random.random() < max(0.1, 1.0 - step / 2_000):
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = int(online(torch.as_tensor(obs)[None].float() / 255).argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        place = step % CAPACITY
        before[place], after[place], actions[place] = obs, following, action
        rewards[place], ends[place] = reward, terminated
        obs = env.reset()[0] if terminated or truncated else following
        if step >= WARMUP and step % EVERY == 0:
            rows = np.random.randint(0, min(step + 1, CAPACITY), BATCH)
            with torch.no_grad():
                ahead = target(torch.as_tensor(after[rows]).float() / 255).max(dim=1).values
                wanted = torch.as_tensor(rewards[rows]) + 0.99 * (1 - torch.as_tensor(ends[rows])) * ahead
            values = online(torch.as_tensor(before[rows]).float() / 255)
            chosen = values.gather(1, torch.as_tensor(actions[rows])[:, None])[:, 0]
            loss = nn.functional.smooth_l1_loss(chosen, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % COPIED == 0:
            target.load_state_dict(online.state_dict())
            print(f"step {step}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
    print(f"cpu {time.process_time():.3f}", flush=True)
