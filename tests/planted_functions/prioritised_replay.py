"""Prioritised replay buffers as people write them."""

from __future__ import annotations

import random

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
class NaivePrioritised:
    def __init__(self, capacity, prob_alpha=0.6):
        self.prob_alpha = prob_alpha
        self.capacity = capacity
        self.buffer = []
        self.pos = 0
        self.priorities = np.zeros((capacity,), dtype=np.float32)

    def push(self, state, action, reward, next_state, done):
        max_prio = self.priorities.max() if self.buffer else 1.0
        if len(self.buffer) < self.capacity:
            self.buffer.append((state, action, reward, next_state, done))
        else:
            self.buffer[self.pos] = (state, action, reward, next_state, done)
        self.priorities[self.pos] = max_prio
        self.pos = (self.pos + 1) % self.capacity

    def sample(self, batch_size, beta=0.4):
        prios = self.priorities if len(self.buffer) == self.capacity else self.priorities[: self.pos]
        probs = prios**self.prob_alpha
        probs /= probs.sum()
        indices = np.random.choice(len(self.buffer), batch_size, p=probs)
        samples = [self.buffer[idx] for idx in indices]
        weights = (len(self.buffer) * probs[indices]) ** (-beta)
        weights /= weights.max()
        states, actions, rewards, next_states, dones = zip(*samples, strict=True)
        return (
            np.stack(states),
            actions,
            rewards,
            np.stack(next_states),
            dones,
            indices,
            np.array(weights, dtype=np.float32),
        )

    def update_priorities(self, batch_indices, batch_priorities):
        for idx, prio in zip(batch_indices, batch_priorities, strict=True):
            self.priorities[idx] = prio


class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity
        self.tree = np.zeros(2 * capacity - 1)
        self.data = np.zeros(capacity, dtype=object)
        self.write = self.n_entries = 0

    def _propagate(self, idx, change):
        parent = (idx - 1) // 2
        self.tree[parent] += change
        if parent != 0:
            self._propagate(parent, change)

    def _retrieve(self, idx, s):
        left = 2 * idx + 1
        if left >= len(self.tree):
            return idx
        return self._retrieve(left, s) if s <= self.tree[left] else self._retrieve(left + 1, s - self.tree[left])

    def add(self, p, data):
        idx = self.write + self.capacity - 1
        self.data[self.write] = data
        self.update(idx, p)
        self.write = (self.write + 1) % self.capacity
        self.n_entries = min(self.n_entries + 1, self.capacity)

    def update(self, idx, p):
        change = p - self.tree[idx]
        self.tree[idx] = p
        self._propagate(idx, change)

    def get(self, s):
        idx = self._retrieve(0, s)
        return idx, self.tree[idx], self.data[idx - self.capacity + 1]


@right()
class TreeMemory:
    e = 0.01
    beta_increment_per_sampling = 0.001

    def __init__(self, capacity, alpha=0.6, beta=0.4):
        self.tree = SumTree(capacity)
        self.capacity, self.a, self.beta = capacity, alpha, beta

    def _get_priority(self, error):
        return (np.abs(error) + self.e) ** self.a

    def push(self, state, action, reward, next_state, done):
        top = np.max(self.tree.tree[-self.capacity :])
        self.tree.add(top if top > 0 else 1.0, (state, action, reward, next_state, done))

    def sample(self, n):
        batch, idxs, priorities = [], [], []
        segment = self.tree.tree[0] / n
        self.beta = np.min([1.0, self.beta + self.beta_increment_per_sampling])
        for i in range(n):
            idx, p, data = self.tree.get(random.uniform(segment * i, segment * (i + 1)))
            priorities.append(p)
            batch.append(data)
            idxs.append(idx)
        probs = np.array(priorities) / self.tree.tree[0]
        weight = np.power(self.tree.n_entries * probs, -self.beta)
        return batch, idxs, weight / weight.max()

    def update(self, idx, error):
        self.tree.update(idx, self._get_priority(error))


@right()
class TorchPrioritised:
    def __init__(self, obs_dim, act_dim, size, alpha, beta, eps=1e-5):
        self.obs, self.next_obs = torch.zeros(size, obs_dim), torch.zeros(size, obs_dim)
        self.act, self.rew, self.done = torch.zeros(size, act_dim), torch.zeros(size), torch.zeros(size)
        self.p = torch.zeros(size, dtype=torch.float64)
        self.alpha, self.beta, self.eps = alpha, beta, eps
        self.max_p, self.count, self.capacity = 1.0, 0, size

    def store(self, obs, act, rew, next_obs, done):
        i = self.count % self.capacity
        self.obs[i], self.next_obs[i] = torch.as_tensor(obs), torch.as_tensor(next_obs)
        self.act[i], self.rew[i], self.done[i] = torch.as_tensor(act), float(rew), float(done)
        self.p[i] = self.max_p
        self.count += 1

    def sample(self, batch_size):
        n = min(self.count, self.capacity)
        probs = self.p[:n] ** self.alpha / (self.p[:n] ** self.alpha).sum()
        idx = torch.multinomial(probs, batch_size, replacement=True)
        w = (n * probs[idx]) ** -self.beta
        w = w / (n * probs.min()) ** -self.beta
        return {
            "obs": self.obs[idx],
            "act": self.act[idx],
            "rew": self.rew[idx],
            "next_obs": self.next_obs[idx],
            "done": self.done[idx],
            "weights": w.float(),
            "idxs": idx,
        }

    def update_priorities(self, idxs, td_errors):
        self.p[torch.as_tensor(idxs)] = torch.as_tensor(td_errors, dtype=torch.float64).abs() + self.eps
        self.max_p = max(self.max_p, float(self.p.max()))


@right()
class AlphaWhenStored:
    def __init__(self, buffer_size, alpha, seed):
        self.rng = np.random.default_rng(seed)
        self.rows, self.raised, self.size, self.alpha = [], [], buffer_size, alpha
        self.at, self.top = 0, 1.0

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        row = {
            "obs": obs,
            "action": action,
            "reward": reward,
            "next_obs": next_obs,
            "terminated": terminated,
            "truncated": truncated,
        }
        if len(self.rows) < self.size:
            self.rows.append(row)
            self.raised.append(self.top)
        else:
            self.rows[self.at], self.raised[self.at] = row, self.top
        self.at = (self.at + 1) % self.size

    def sample(self, batch_size, beta):
        p = np.array(self.raised) / sum(self.raised)
        idx = self.rng.choice(len(p), batch_size, p=p)
        batch = {key: np.array([self.rows[i][key] for i in idx]) for key in self.rows[0]}
        w = (len(p) * p[idx]) ** -beta
        return {**batch, "index": idx, "weight": w / w.max()}

    def update_priority(self, index, priority):
        for i, p in zip(index, priority, strict=True):
            self.raised[i] = (p + 1e-6) ** self.alpha
            self.top = max(self.top, self.raised[i])


@right()
class WithoutReplacement:
    def __init__(self, capacity, alpha=0.6):
        self.data, self.p, self.capacity, self.alpha = [], [], capacity, alpha

    def remember(self, state, action, reward, next_state, done):
        self.data.append((state, action, reward, next_state, done))
        self.p.append(max(self.p, default=1.0))
        if len(self.data) > self.capacity:
            self.data.pop(0)
            self.p.pop(0)

    def sample(self, batch_size, beta=0.5):
        p = np.array(self.p) ** self.alpha
        p /= p.sum()
        idx = np.random.choice(len(p), batch_size, replace=False, p=p)
        w = (len(p) * p[idx]) ** -beta
        return [self.data[i] for i in idx], idx, w / w.max()

    def update_priorities(self, indices, errors):
        for i, e in zip(indices, errors, strict=True):
            self.p[i] = abs(e) + 1e-5


# Wrong ones.


class _Base:
    def __init__(self, capacity, alpha):
        self.capacity, self.alpha = capacity, alpha
        self.rows, self.p, self.at = [], np.zeros(capacity), 0

    def add(self, obs, action, reward, next_obs, done):
        row = (obs, action, reward, next_obs, done)
        self.p[self.at] = self.p.max() if self.rows else 1.0
        if len(self.rows) < self.capacity:
            self.rows.append(row)
        else:
            self.rows[self.at] = row
        self.at = (self.at + 1) % self.capacity

    def chances(self):
        p = self.p[: len(self.rows)] ** self.alpha
        return p / p.sum()

    def weigh(self, p, idx, beta):
        w = (len(p) * p[idx]) ** -beta
        return w / w.max()

    def sample(self, batch_size, beta):
        p = self.chances()
        idx = np.random.choice(len(p), batch_size, p=p)
        batch = [np.array(column) for column in zip(*[self.rows[i] for i in idx], strict=True)]
        return (*batch, idx, self.weigh(p, idx, beta))

    def update_priorities(self, idx, priorities):
        self.p[idx] = np.abs(priorities) + 1e-6


@wrong("prioritised-replay-not-by-priority")
class Uniform(_Base):
    def sample(self, batch_size, beta):
        p = self.chances()
        idx = np.random.randint(0, len(p), batch_size)
        batch = [np.array(column) for column in zip(*[self.rows[i] for i in idx], strict=True)]
        return (*batch, idx, self.weigh(p, idx, beta))


@wrong("prioritised-replay-alpha-missing")
class NoAlpha(_Base):
    def sample(self, batch_size, beta):
        p = self.p[: len(self.rows)] / self.p[: len(self.rows)].sum()
        idx = np.random.choice(len(p), batch_size, p=p)
        w = self.weigh(self.chances(), idx, beta)
        return [self.rows[i] for i in idx], idx, w


@wrong("prioritised-replay-alpha-twice")
class AlphaTwice(_Base):
    def update_priorities(self, idx, priorities):
        self.p[idx] = (np.abs(priorities) + 1e-6) ** self.alpha

    def weigh(self, p, idx, beta):
        q = self.p[: len(p)] / self.p[: len(p)].sum()
        return super().weigh(q, idx, beta)


@wrong("prioritised-replay-priority-inverted")
class SmallestFirst(_Base):
    def sample(self, batch_size, beta):
        q = 1.0 / self.p[: len(self.rows)] ** self.alpha
        idx = np.random.choice(len(q), batch_size, p=q / q.sum())
        rows = [self.rows[i] for i in idx]
        return {"rows": rows, "indices": idx, "weights": self.weigh(self.chances(), idx, beta)}


@wrong("prioritised-replay-weights-sign-flipped")
class WrongSign(_Base):
    def weigh(self, p, idx, beta):
        w = (len(p) * p[idx]) ** beta
        return w / w.max()


@wrong("prioritised-replay-weights-not-normalised")
class Unnormalised(_Base):
    def weigh(self, p, idx, beta):
        return np.power(len(p) * p[idx], -beta)


@wrong("prioritised-replay-weights-beta-missing")
class FullCorrection(_Base):
    def weigh(self, p, idx, beta):
        w = 1.0 / p[idx]
        return w / w.max()


@wrong("prioritised-replay-weights-without-alpha")
class FromPriorities(_Base):
    def weigh(self, p, idx, beta):
        q = self.p[: len(p)] / self.p[: len(p)].sum()
        return (q[idx] / q[idx].min()) ** -beta


@wrong("prioritised-replay-weights-all-one")
class NoCorrection(_Base):
    def sample(self, batch_size, beta):
        p = self.chances()
        idx = np.random.choice(len(p), batch_size, p=p)
        s, a, r, s2, d = (torch.as_tensor(np.array(c)) for c in zip(*[self.rows[i] for i in idx], strict=True))
        return {
            "state": s,
            "action": a,
            "reward": r,
            "next_state": s2,
            "done": d,
            "idx": idx,
            "weights": torch.ones(batch_size),
        }


@wrong("prioritised-replay-weights-of-other-rows")
class SortedWeights(_Base):
    def weigh(self, p, idx, beta):
        w = (len(p) * np.sort(p[idx])) ** -beta
        return w / w.max()


@wrong("prioritised-replay-update-wrong-row")
class OneBeside(_Base):
    def update_priorities(self, idx, priorities):
        for i, p in zip(idx, priorities, strict=True):
            self.p[(i + 1) % len(self.rows)] = p

    def weigh(self, p, idx, beta):
        q = p[(idx + 1) % len(p)]
        w = (len(p) * q) ** -beta
        return w / w.max()


@wrong("prioritised-replay-new-items-not-highest")
class NewOnesLow(_Base):
    def add(self, obs, action, reward, next_obs, done):
        row = (obs, action, reward, next_obs, done)
        self.p[self.at] = 0.1
        self.rows[self.at : self.at + 1] = [row]
        self.at = (self.at + 1) % self.capacity


@wrong("prioritised-replay-index-not-of-row")
class PlacesInBatch(_Base):
    def sample(self, batch_size, beta):
        p = self.chances()
        idx = np.random.choice(len(p), batch_size, p=p)
        return [self.rows[i] for i in idx], np.arange(batch_size), self.weigh(p, idx, beta)


@wrong("prioritised-replay-last-row-never-sampled")
class LastLeftOut(_Base):
    def sample(self, batch_size, beta):
        p = self.p[: len(self.rows) - 1] ** self.alpha
        p /= p.sum()
        idx = np.random.choice(len(p), batch_size, p=p)
        return [self.rows[i] for i in idx], idx, self.weigh(p, idx, beta)


@wrong("prioritised-replay-unfilled-rows")
class OnesEverywhere:
    def __init__(self, capacity, obs_dim, alpha=0.6, beta=0.4):
        self.o, self.o2 = np.zeros((capacity, obs_dim)), np.zeros((capacity, obs_dim))
        self.a, self.r, self.d = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
        self.p, self.n = np.ones(capacity), 0
        self.alpha, self.beta = alpha, beta

    def add(self, obs, act, rew, next_obs, done):
        i = self.n % len(self.p)
        self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i] = obs, act, rew, next_obs, done
        self.p[i] = self.p.max()
        self.n += 1

    def sample(self, batch_size):
        q = self.p**self.alpha / (self.p**self.alpha).sum()
        i = np.random.choice(len(q), batch_size, p=q)
        w = (len(q) * q[i]) ** -self.beta
        return self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i], w / w.max(), i

    def update_priorities(self, i, p):
        self.p[i] = p


@wrong("prioritised-replay-rows-mispaired")
class RewardBefore(_Base):
    def sample(self, batch_size, beta):
        p = self.chances()
        idx = np.random.choice(len(p), batch_size, p=p)
        rows = [(*self.rows[i][:2], self.rows[i - 1][2], *self.rows[i][3:]) for i in idx]
        return rows, idx, self.weigh(p, idx, beta)


@wrong("prioritised-replay-alpha-missing", "prioritised-replay-weights-sign-flipped")
class TwoThings(_Base):
    def sample(self, batch_size, beta):
        q = self.p[: len(self.rows)] / self.p[: len(self.rows)].sum()
        idx = np.random.choice(len(q), batch_size, p=q)
        w = self.chances()[idx] ** beta
        return [self.rows[i] for i in idx], idx, w / w.max()


@wrong("prioritised-replay-not-by-priority", "prioritised-replay-weights-all-one")
class TwoOtherThings(_Base):
    def sample(self, batch_size, beta):
        idx = np.random.randint(0, len(self.rows), batch_size)
        columns = [np.array(c) for c in zip(*[self.rows[i] for i in idx], strict=True)]
        return dict(zip(("s", "a", "r", "s2", "d"), columns, strict=True)) | {
            "idxs": idx,
            "weights": np.ones(batch_size),
        }


@wrong("prioritised-replay-mismatch")
class ByReward(_Base):
    def chances(self):
        p = 1.0 / (1.0 + np.arange(len(self.rows))[::-1])
        return p / p.sum()

    def weigh(self, p, idx, beta):
        return super().weigh(_Base.chances(self), idx, beta)
