from collections import deque

import numpy as np
import torch


class NStepAssembler:
    """Turns single steps into (obs, action, n-step return, obs after n steps, discount for the bootstrap)."""

    def __init__(self, n: int, gamma: float):
        self.n, self.gamma = n, gamma
        self.window = deque()

    def push(self, obs, action, reward, next_obs, terminated, truncated):
        self.window.append((obs, action, reward))
        ready = []
        if terminated or truncated:
            while self.window:
                ready.append(self._collapse(next_obs, terminated))
        elif len(self.window) == self.n:
            ready.append(self._collapse(next_obs, False))
        return ready

    def _collapse(self, last_obs, terminated):
        total = 0.0
        for k, (_, _, reward) in enumerate(self.window):
            total += self.gamma ** k * reward
        discount = 0.0 if terminated else self.gamma ** len(self.window)
        obs, action, _ = self.window.popleft()
        return obs, action, total, last_obs, discount


class SumTree:
    """Binary tree in a flat list: node i has the children 2i and 2i+1, the leaves start at `capacity`."""

    def __init__(self, capacity: int):
        assert capacity & (capacity - 1) == 0, "capacity must be a power of two"
        self.capacity = capacity
        self.nodes = [0.0] * (2 * capacity)

    def set(self, leaf: int, value: float):
        node = leaf + self.capacity
        self.nodes[node] = value
        node //= 2
        while node >= 1:
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1]
            node //= 2

    def get(self, leaf: int) -> float:
        return float(self.nodes[leaf + self.capacity])

    def total(self) -> float:
        return float(self.nodes[1])

    def find(self, mass: float) -> int:
        """The leaf in whose interval of the cumulated priorities `mass` lies."""
        node = 1
        while node < self.capacity:
            left = 2 * node
            if mass < self.nodes[left] or self.nodes[left + 1] <= 0.0:
                node = left
            else:
                mass -= self.nodes[left]
                node = left + 1
        return node - self.capacity


class PrioritisedMemory:
    def __init__(self, capacity: int, obs_dim: int, alpha: float, eps: float, rng: np.random.Generator):
        self.capacity, self.alpha, self.eps, self.rng = capacity, alpha, eps, rng
        self.tree = SumTree(capacity)
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.next_obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.action = np.zeros(capacity, dtype=np.int64)
        self.ret = np.zeros(capacity, dtype=np.float32)
        self.discount = np.zeros(capacity, dtype=np.float32)
        self.cursor = 0
        self.size = 0
        self.top_priority = 1.0

    def __len__(self):
        return self.size

    def store(self, obs, action, ret, next_obs, discount):
        i = self.cursor
        self.obs[i], self.action[i], self.ret[i] = obs, action, ret
        self.next_obs[i], self.discount[i] = next_obs, discount
        self.tree.set(i, self.top_priority ** self.alpha)
        self.cursor = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def draw(self, batch_size: int, beta: float):
        total = self.tree.total()
        marks = (np.arange(batch_size) + self.rng.random(batch_size)) / batch_size * total
        leaves = [self.tree.find(m) for m in marks.tolist()]
        prob = np.array([self.tree.get(i) for i in leaves]) / total
        weights = (self.size * np.maximum(prob, 1e-12)) ** -beta
        weights /= weights.max()
        pick = np.array(leaves)
        batch = {
            "obs": torch.from_numpy(self.obs[pick]),
            "action": torch.from_numpy(self.action[pick]),
            "ret": torch.from_numpy(self.ret[pick]),
            "next_obs": torch.from_numpy(self.next_obs[pick]),
            "discount": torch.from_numpy(self.discount[pick]),
        }
        return leaves, torch.as_tensor(weights, dtype=torch.float32), batch

    def reprioritise(self, leaves, errors):
        for leaf, error in zip(leaves, errors):
            priority = abs(error) + self.eps
            self.tree.set(leaf, priority ** self.alpha)
            self.top_priority = max(self.top_priority, priority)
