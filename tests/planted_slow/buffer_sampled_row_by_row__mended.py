"""DQN on CartPole after the tutorial: a deque of named tuples."""

import random
import time
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "alive"))


class ReplayMemory:
    def __init__(self, capacity):
        self.states, self.next_states = np.zeros((2, capacity, 4), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards, self.alive = np.zeros(capacity), np.zeros(capacity, dtype=bool)
        self.capacity, self.count = capacity, 0

    def push(self, states, actions, next_states, rewards, alive):
        rows = np.arange(self.count, self.count + len(actions)) % self.capacity
        self.states[rows], self.actions[rows], self.next_states[rows] = states, actions, next_states
        self.rewards[rows], self.alive[rows] = rewards, alive
        self.count += len(actions)

    def sample(self, batch_size):
        rows = np.random.randint(0, len(self), batch_size)
        columns = self.states, self.actions, self.next_states, self.rewards, self.alive
        return [torch.from_numpy(column[rows]) for column in columns]

    def __len__(self):
        return min(self.count, self.capacity)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, n_actions)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
env = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(4)])
policy_net, target_net = DQN(4, 2), DQN(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)
memory = ReplayMemory(20_000)

began = time.perf_counter()
state, _ = env.reset(seed=0)
for i in range(2800):
    with torch.no_grad():
        action = policy_net(torch.from_numpy(state)).argmax(1).numpy()
    action = np.where(np.random.rand(4) < 0.1, np.random.randint(0, 2, 4), action)
    observation, reward, terminated, truncated, _ = env.step(action)
    memory.push(state, action, observation, reward, ~terminated)
    state = observation
    if len(memory) < 512:
        continue
    s, a, s2, r, alive = memory.sample(512)
    q = policy_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target_net(s2).max(1).values
    loss = F.smooth_l1_loss(q, r.float() + 0.99 * best * alive)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    if i % 200 == 0:
        target_net.load_state_dict(policy_net.state_dict())
print(f"loss {loss.item():.4f} seconds={time.perf_counter() - began:.3f}")
