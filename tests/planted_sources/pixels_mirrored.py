"""A2C from pixels: colour frames with the channels last."""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Eyes(nn.Module):
    def __init__(self, moves):
        super().__init__()
        self.seeing = nn.Sequential(
            nn.Conv2d(3, 16, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(256),
            nn.ReLU(),
        )
        self.choice = nn.Linear(256, moves)
        self.worth = nn.Linear(256, 1)

    def forward(self, frames):
        x = frames.float() / 255.0
        x = x.transpose(1, 3)  # planted: image-axes-mirrored
        # = x = x.permute(0, 3, 1, 2)
        inner = self.seeing(x)
        return Categorical(logits=self.choice(inner)), self.worth(inner).squeeze(-1)


def main(updates=20_000, horizon=16, gamma=0.99):
    env = gym.wrappers.ResizeObservation(gym.make("CarRacing-v3", continuous=False), (84, 84))
    net = Eyes(env.action_space.n)
    frame, _ = env.reset(seed=5)
    net(torch.as_tensor(frame)[None])
    adam = torch.optim.Adam(net.parameters(), lr=2.5e-4)
    for _ in range(updates):
        scores, values, rewards, lasting = [], [], [], []
        for _ in range(horizon):
            pi, value = net(torch.as_tensor(frame)[None])
            move = pi.sample()
            frame, reward, terminated, truncated, _ = env.step(move.item())
            scores.append(pi.log_prob(move))
            values.append(value)
            rewards.append(reward)
            lasting.append(0.0 if terminated or truncated else 1.0)
            if terminated or truncated:
                frame, _ = env.reset()
        with torch.no_grad():
            total = net(torch.as_tensor(frame)[None])[1].item()
        goals = []
        for reward, goes_on in zip(rewards[::-1], lasting[::-1], strict=True):
            total = reward + gamma * goes_on * total
            goals.append(total)
        goals, values = torch.tensor(goals[::-1]), torch.cat(values)
        better = goals - values.detach()
        loss = -(torch.cat(scores) * better).mean() + 0.5 * (goals - values).pow(2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()


if __name__ == "__main__":
    main()
