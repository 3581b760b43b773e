"""A2C on pixels, as users write it; the program of the pictures in docs/images. Its mistake: pixels are divided by 255
in the wrapper, and once more in the network."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SIZE, GAMMA, ENVS, STEPS, ITERATIONS = 40, 0.97, 8, 16, 150
COLOURS = np.array([[30, 34, 42], [240, 180, 60], [90, 170, 240]], np.uint8)


class Falling(gym.Env):
    """A ball falls, a paddle has to be below it."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012
    observation_space = gym.spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.row, self.column, self.paddle = 2, int(self.np_random.integers(3, SIZE - 3)), SIZE // 2
        return self.picture(), {}

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + 3 * (action - 1), 4, SIZE - 5))
        self.row += 2
        ended = self.row >= SIZE - 4
        return self.picture(), float(ended and abs(self.column - self.paddle) <= 5), ended, False, {}

    def picture(self):
        screen = np.zeros((SIZE, SIZE), int)
        screen[self.row - 2 : self.row + 2, self.column - 2 : self.column + 2] = 1
        screen[SIZE - 3 : SIZE - 1, self.paddle - 4 : self.paddle + 5] = 2
        return COLOURS[screen]

    def render(self):
        return np.kron(self.picture(), np.ones((6, 6, 1), np.uint8))


class Grey(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0, 1, (1, SIZE, SIZE), np.float32)

    def observation(self, obs):
        return obs.mean(axis=2, dtype=np.float32)[None] / 255


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten()
        )
        self.policy, self.value = nn.Linear(400, 3), nn.Linear(400, 1)

    def forward(self, x):
        features = self.body(x / 255)
        return Categorical(logits=self.policy(features)), self.value(features).squeeze(-1)


def main():
    torch.manual_seed(1)
    envs = gym.vector.SyncVectorEnv([lambda: Grey(Falling())] * ENVS, autoreset_mode="SameStep")
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    obs, _ = envs.reset(seed=1)
    for iteration in range(ITERATIONS):
        logps, values, rewards, ends, entropies = [], [], [], [], []
        for _ in range(STEPS):
            dist, value = agent(torch.as_tensor(obs))
            action = dist.sample()
            obs, reward, terminated, _, _ = envs.step(action.numpy())
            logps.append(dist.log_prob(action))
            values.append(value)
            entropies.append(dist.entropy())
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            ends.append(torch.as_tensor(terminated, dtype=torch.float32))
        with torch.no_grad():
            target = agent(torch.as_tensor(obs))[1]
        targets = []
        for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
            target = reward + GAMMA * (1 - end) * target
            targets.insert(0, target)
        target, value = torch.stack(targets), torch.stack(values)
        advantage = target - value.detach()
        loss = -(torch.stack(logps) * advantage).mean() + 0.5 * (value - target).square().mean()
        loss -= 0.01 * torch.stack(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 25 == 24:
            print(f"iteration {iteration + 1}: {torch.stack(rewards).sum().item():.0f} caught")


if __name__ == "__main__":
    main()
