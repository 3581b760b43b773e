"""REINFORCE with a baseline on CartPole, the environments in processes of their own."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)


def build(count):
    factories = [lambda: gym.make("CartPole-v1")] * count
    return gym.vector.SyncVectorEnv(factories)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 64)
        self.policy_head = nn.Linear(64, 2)
        self.value_head = nn.Linear(64, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.policy_head(x), self.value_head(x).squeeze(1)


def collect(vec, net, first, length):
    xs, us, rs, ends = [], [], [], []
    now = first
    for _ in range(length):
        with torch.no_grad():
            logits, _ = net(torch.from_numpy(now))
            u = torch.distributions.Categorical(logits=logits).sample().numpy()
        xs.append(now)
        us.append(u)
        now, r, over, cut, _ = vec.step(u)
        rs.append(r)
        ends.append(over | cut)
    return now, np.array(xs), np.array(us), np.array(rs), np.array(ends)


def returns(rs, ends, tail):
    out = np.empty_like(rs)
    for t in range(len(rs) - 1, -1, -1):
        tail = rs[t] + 0.99 * tail * ~ends[t]
        out[t] = tail
    return torch.from_numpy(out).float()


if __name__ == "__main__":
    torch.manual_seed(9)
    vec, net = build(4), Net()
    adam = torch.optim.Adam(net.parameters(), lr=3e-3)
    now, _ = vec.reset(seed=9)
    zero = time.perf_counter()
    for _ in range(90):
        now, xs, us, rs, ends = collect(vec, net, now, 64)
        with torch.no_grad():
            tail = net(torch.from_numpy(now))[1].numpy()
        goals = returns(rs, ends, tail).flatten()
        logits, values = net(torch.from_numpy(xs).flatten(0, 1))
        picked = torch.distributions.Categorical(logits=logits).log_prob(torch.from_numpy(us).flatten())
        loss = -(picked * (goals - values).detach()).mean() + 0.5 * (goals - values).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    print(f"{loss.item():.3f} seconds={time.perf_counter() - zero:.3f}")
    vec.close()
