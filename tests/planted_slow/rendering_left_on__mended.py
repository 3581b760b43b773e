"""A2C on a lander of our own that can draw itself."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Lander(gym.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(-10.0, 10.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.pos = self.np_random.uniform([-0.5, 0.6], [0.5, 0.9])
        self.vel = np.zeros(2)
        self.ticks = 0
        return np.concatenate([self.pos, self.vel]).astype(np.float32), {}

    def step(self, action):
        thrust = ((0.0, 0.0), (0.0, 0.02), (-0.01, 0.0), (0.01, 0.0))[int(action)]
        self.vel += np.array(thrust) - (0.0, 0.008)
        self.pos += 0.1 * self.vel
        self.ticks += 1
        down = bool(self.pos[1] <= 0.0)
        reward = -0.01 + (1.0 - 5 * float(np.abs(self.vel).sum()) if down else 0.0)
        return np.concatenate([self.pos, self.vel]).astype(np.float32), reward, down, self.ticks >= 150, {}

    def render(self):
        rows, columns = np.mgrid[0:128, 0:128]
        picture = np.full((128, 128, 3), 235, dtype=np.uint8)
        picture[120:] = (90, 60, 30)
        near = (rows - 120 * (1 - self.pos[1])) ** 2 + (columns - 64 * (1 + self.pos[0])) ** 2 < 36
        picture[near] = (200, 30, 30)
        return picture


def act(net, obs):
    with torch.no_grad():
        logits, _ = net(torch.from_numpy(obs))
    return torch.distributions.Categorical(logits=logits).sample().numpy()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared, self.pi, self.v = nn.Linear(4, 96), nn.Linear(96, 4), nn.Linear(96, 1)

    def forward(self, x):
        x = F.elu(self.shared(x))
        return self.pi(x), self.v(x).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(1)
    fleet = gym.vector.SyncVectorEnv([lambda: Lander(render_mode="rgb_array") for _ in range(8)])
    net = ActorCritic()
    optimizer = torch.optim.Adam(net.parameters(), lr=7e-4)
    obs, _ = fleet.reset(seed=1)
    started = time.perf_counter()
    for _ in range(260):
        rollout = []
        for _ in range(16):
            action = act(net, obs)
            following, reward, over, cut, _ = fleet.step(action)
            rollout.append((obs, action, reward, over | cut))
            obs = following
        states, actions, rewards, ends = (np.array(each) for each in zip(*rollout))
        with torch.no_grad():
            future = net(torch.from_numpy(obs))[1].numpy()
        targets = np.zeros_like(rewards)
        for t in range(15, -1, -1):
            future = rewards[t] + 0.99 * future * (1 - ends[t])
            targets[t] = future
        logits, value = net(torch.from_numpy(states))
        gap = torch.from_numpy(targets).float() - value
        logp = logits.log_softmax(-1).gather(-1, torch.from_numpy(actions).unsqueeze(-1)).squeeze(-1)
        loss = gap.square().mean() - (logp * gap.detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss={loss.item():.4f} seconds={time.perf_counter() - started:.3f}")
