"""A program that learns from pictures: an environment of bytes, a wrapper that makes them small and grey, a stack."""

import hashlib
import sys
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Pictures(gym.Env):
    observation_space = gym.spaces.Box(0, 255, (40, 48, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(self):
        self.render_mode = None
        self.at = 0

    def frame(self):
        frame = np.zeros((40, 48, 3), dtype=np.uint8)
        frame[5:15, self.at : self.at + 8, 0] = 255
        frame[0, 0] = self.at
        return frame

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(10))
        return self.frame(), {}

    def step(self, action):
        self.at += 1
        return self.frame(), float(action), self.at >= 30, False, {}

    def render(self):
        assert self.render_mode == "rgb_array"
        self.np_random.random()  # it may: nobody is to notice
        np.random.random()
        torch.rand(1)
        self.drawn = True
        return self.frame()


class Grey(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0, 1, (20, 24), np.float32)

    def observation(self, obs):
        return (obs[::2, ::2].mean(axis=2) / 255).astype(np.float32)


def main(steps, until=None, mark=""):
    """Until a file is there, or that many steps."""
    torch.manual_seed(0)
    np.random.seed(0)
    env = gym.wrappers.FrameStackObservation(Grey(Pictures()), 4)
    net = nn.Sequential(nn.Conv2d(4, 4, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(396, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    obs, _ = env.reset(seed=0)
    deadline = time.monotonic() + 30
    step = 0
    while step < steps or (until is not None and not Path(until).exists() and time.monotonic() < deadline):
        step += 1
        dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)[None]))
        action = dist.sample()
        obs, reward, terminated, _, _ = env.step(action.item())
        loss = -(dist.log_prob(action) * reward).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if terminated:
            obs, _ = env.reset()
        if step == 20 and mark:
            print(mark, flush=True)
            if mark.startswith("/"):
                Path(mark).touch()
    print("steps", step)
    weights = b"".join(each.detach().numpy().tobytes() for each in net.parameters())
    state = repr(
        (
            env.unwrapped.np_random.bit_generator.state,
            np.random.random(),
            torch.rand(1).item(),
            vars(env.unwrapped).keys(),
        )
    )
    print("==", hashlib.sha256(weights + state.encode()).hexdigest(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
