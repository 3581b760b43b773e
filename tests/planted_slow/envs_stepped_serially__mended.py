"""A2C on a chain of masses that is integrated in small steps: an environment that takes its time."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Chain(gym.Env):
    """Five masses on springs, the first of which is pushed. Each step is eight hundred small ones."""

    def __init__(self):
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (10,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _seen(self):
        return np.array(self.place + self.speed, dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = [float(x) for x in self.np_random.normal(0, 0.1, 5)]
        self.speed = [0.0] * 5
        self.age = 0
        return self._seen(), {}

    def step(self, action):
        force = float(action) - 1.0
        for _ in range(800):
            left = 0.0
            for k in range(5):
                right = self.place[k + 1] if k < 4 else 0.0
                pull = 4.0 * (left - 2 * self.place[k] + right) - 0.1 * self.speed[k] + (force if k == 0 else 0.0)
                self.speed[k] += 0.00025 * pull
                left = self.place[k]
                self.place[k] += 0.00025 * self.speed[k]
        self.age += 1
        return self._seen(), -abs(self.place[4]), False, self.age >= 100, {}


def main():
    torch.manual_seed(4)
    n = 2
    springs = gym.vector.AsyncVectorEnv([Chain] * n)
    model = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 4))
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    watch_started = time.perf_counter()
    ob, _ = springs.reset(seed=4)
    for _ in range(100):
        keep_ob, keep_act, keep_rew = [], [], []
        for _ in range(10):
            with torch.no_grad():
                act = torch.distributions.Categorical(logits=model(torch.from_numpy(ob))[:, :3]).sample()
            keep_ob.append(ob)
            keep_act.append(act)
            ob, rew, _, _, _ = springs.step(act.numpy())
            keep_rew.append(rew)
        back = np.cumsum(np.array(keep_rew)[::-1], 0)[::-1].astype(np.float32)
        goal = torch.from_numpy(back).flatten()
        out = model(torch.from_numpy(np.concatenate(keep_ob)))
        dist = torch.distributions.Categorical(logits=out[:, :3])
        gap = goal - out[:, 3]
        loss = gap.pow(2).mean() - (dist.log_prob(torch.cat(keep_act)) * gap.detach()).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(f"loss {loss.item():.4f} seconds={time.perf_counter() - watch_started:.3f}")
    springs.close()


if __name__ == "__main__":
    main()
