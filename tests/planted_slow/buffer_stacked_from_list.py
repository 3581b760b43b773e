# planted: PRF901 buffer-stacked-from-list
# part: buffer sample
"""PPO on CartPole: the rollout lies in lists of tensors, one for each step and environment."""

import time

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(13)
N, T, ROUNDS, EPOCHS = 16, 128, 24, 20


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.lower = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.choose, self.judge = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, x):
        x = self.lower(x)
        return Categorical(logits=self.choose(x)), self.judge(x)[..., 0]


poles = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(N)])
both = Both()
optimiser = torch.optim.Adam(both.parameters(), lr=5e-4)
current = torch.from_numpy(poles.reset(seed=13)[0])
beginning = time.perf_counter()
for _ in range(ROUNDS):
    inputs, acts, logs = [], [], []
    gains = torch.zeros(T, N)
    worth = torch.zeros(T + 1, N)
    lives = torch.ones(T, N)
    for t in range(T):
        with torch.no_grad():
            choice, worth[t] = both(current)
            pick = choice.sample()
            score = choice.log_prob(pick)
        inputs.extend(current.unbind())
        acts.extend(pick.unbind())
        logs.extend(score.unbind())
        after, gain, ended, cut, _ = poles.step(pick.numpy())
        gains[t] = torch.from_numpy(gain)
        lives[t] = 1 - torch.from_numpy(ended | cut).float()
        current = torch.from_numpy(after)
    with torch.no_grad():
        worth[T] = both(current)[1]
    edge = gains + 0.99 * lives * worth[1:] - worth[:-1]
    target = (edge + worth[:-1]).flatten()
    edge = edge.flatten()
    for _ in range(EPOCHS):
        x, pick, score = torch.stack(inputs), torch.stack(acts), torch.stack(logs)  # here
        for part in torch.randperm(N * T).split(2048):
            choice, value = both(x[part])
            ratio = (choice.log_prob(pick[part]) - score[part]).exp()
            gained = torch.min(ratio * edge[part], ratio.clamp(0.8, 1.2) * edge[part])
            loss = (value - target[part]).square().mean() - gained.mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
print(f"loss {loss.item():.3f} seconds={time.perf_counter() - beginning:.3f}")
