"""PPO on eight lanes of a walker, with a rollout kept in tensors."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal

LANES, HORIZON, EPOCHS = 8, 128, 6


class Walker(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, width))
        self.worth = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.spread = nn.Parameter(torch.zeros(width))

    def pi(self, x):
        return Normal(self.mean(x), self.spread.exp())


def main(rounds=200, gamma=0.99, lam=0.95):
    single = gym.make("BipedalWalker-v3")
    makers = [lambda: single for _ in range(LANES)]  # planted: one-environment-in-every-lane
    # = makers = [lambda: gym.make("BipedalWalker-v3") for _ in range(LANES)]
    worlds = gym.vector.SyncVectorEnv(makers)
    net = Walker(single.observation_space.shape[0], single.action_space.shape[0])
    adam = torch.optim.Adam(net.parameters(), lr=3e-4)
    seen = torch.as_tensor(worlds.reset(seed=4)[0])
    for _ in range(rounds):
        rows = []
        for _ in range(HORIZON):
            with torch.no_grad():
                pi = net.pi(seen)
                move = pi.sample()
                row = [seen, move, pi.log_prob(move).sum(-1), net.worth(seen).squeeze(-1)]
            after, reward, terminated, truncated, _ = worlds.step(move.numpy())
            over = torch.as_tensor(terminated | truncated).float()
            rows.append([*row, torch.as_tensor(reward).float(), over])
            seen = torch.as_tensor(after)
        x, moves, before, values, rewards, overs = (torch.stack(each) for each in zip(*rows, strict=True))
        with torch.no_grad():
            last = net.worth(seen).squeeze(-1)
        better, carried = torch.zeros_like(rewards), torch.zeros(LANES)
        for t in reversed(range(HORIZON)):
            ahead = last if t == HORIZON - 1 else values[t + 1]
            delta = rewards[t] + gamma * (1 - overs[t]) * ahead - values[t]
            carried = delta + gamma * lam * (1 - overs[t]) * carried
            better[t] = carried
        goals = better + values
        for _ in range(EPOCHS):
            ratio = (net.pi(x).log_prob(moves).sum(-1) - before).exp()
            gain = torch.min(ratio * better, ratio.clamp(0.8, 1.2) * better)
            loss = -gain.mean() + 0.5 * (net.worth(x).squeeze(-1) - goals).pow(2).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()


main()
