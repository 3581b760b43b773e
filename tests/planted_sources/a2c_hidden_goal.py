"""A2C on a plane with a goal, which is shown only after the first steps."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class HideGoal(gym.ObservationWrapper):
    def __init__(self, env, hidden_for=5):
        super().__init__(env)
        self.hidden_for = hidden_for
        self.shown = 0

    def reset(self, **kwargs):
        self.shown = 0
        return super().reset(**kwargs)

    def observation(self, observation):
        self.shown += 1
        seen = np.array(observation, dtype=np.float32)
        if self.shown <= self.hidden_for:
            seen[-2:0] = 0.0  # planted: slice-ends-at-zero
            # = seen[-2:] = 0.0
        return seen


def body(size, out):
    return nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, out))


def main(steps=50_000, horizon=32, gamma=0.98):
    env = HideGoal(gym.make("PointMaze_UMaze-v3"))
    size, width = env.observation_space.shape[0], env.action_space.shape[0]
    mean, value = body(size, width), body(size, 1)
    log_std = nn.Parameter(torch.zeros(width))
    adam = torch.optim.Adam([*mean.parameters(), *value.parameters(), log_std], lr=7e-4)
    seen, _ = env.reset(seed=11)
    for _ in range(steps // horizon):
        rows = []
        for _ in range(horizon):
            x = torch.as_tensor(seen)
            pi = Normal(mean(x), log_std.exp())
            chosen = pi.sample()
            after, reward, terminated, truncated, _ = env.step(chosen.numpy())
            with torch.no_grad():
                ahead = 0.0 if terminated else gamma * value(torch.as_tensor(after)).squeeze()
            rows.append((pi.log_prob(chosen).sum(), value(x).squeeze(), reward + ahead))
            seen = env.reset()[0] if terminated or truncated else after
        logps, values, goals = (torch.stack([torch.as_tensor(each) for each in column]) for column in zip(*rows, strict=True))
        better = (goals - values).detach()
        loss = -(logps * better).mean() + 0.5 * (goals.float() - values).pow(2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()


if __name__ == "__main__":
    main()
