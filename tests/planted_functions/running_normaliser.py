"""Running normalisers, as people write them."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.planted_functions import right, wrong


@right()
class BaselinesLike:
    def __init__(self, epsilon=1e-4, shape=()):
        self.mean = np.zeros(shape, "float64")
        self.var = np.ones(shape, "float64")
        self.count = epsilon

    def update(self, x):
        batch_mean, batch_var, batch_count = np.mean(x, axis=0), np.var(x, axis=0), x.shape[0]
        delta = batch_mean - self.mean
        tot = self.count + batch_count
        m2 = self.var * self.count + batch_var * batch_count + delta**2 * self.count * batch_count / tot
        self.mean = self.mean + delta * batch_count / tot
        self.var, self.count = m2 / tot, tot


@right()
class RowByRow:
    """Welford's, as in many PPO tutorials."""

    def __init__(self, shape):
        self.n = 0
        self.mean = np.zeros(shape)
        self.S = np.zeros(shape)
        self.std = np.sqrt(self.S)

    def update(self, x):
        x = np.array(x)
        self.n += 1
        if self.n == 1:
            self.mean = x
            self.std = x
        else:
            old_mean = self.mean.copy()
            self.mean = old_mean + (x - old_mean) / self.n
            self.S = self.S + (x - old_mean) * (x - self.mean)
            self.std = np.sqrt(self.S / self.n)


@right()
class Normalization:
    def __init__(self, shape):
        self.running_ms = RowByRow(shape=shape)

    def __call__(self, x, update=True):
        if update:
            self.running_ms.update(x)
        return (x - self.running_ms.mean) / (self.running_ms.std + 1e-8)


@right()
class SchulmanFilter:
    """ZFilter: each call updates; N − 1."""

    def __init__(self, shape, clip=10.0):
        self._n, self._M, self._S = 0, np.zeros(shape), np.zeros(shape)
        self.clip = clip

    @property
    def mean(self):
        return self._M

    @property
    def std(self):
        return np.sqrt(self._S / (self._n - 1) if self._n > 1 else np.square(self._M))

    def __call__(self, x):
        x = np.asarray(x)
        self._n += 1
        old = self._M.copy()
        self._M = old + (x - old) / self._n
        self._S = self._S + (x - old) * (x - self._M)
        return np.clip((x - self._M) / (self.std + 1e-8), -self.clip, self.clip)


@right()
class TorchModule(nn.Module):
    def __init__(self, in_shape=2, eps=1e-2):
        super().__init__()
        self.eps = eps
        self.register_buffer("_mean", torch.zeros(1, 2))
        self.register_buffer("_var", torch.ones(1, 2))
        self.register_buffer("count", torch.tensor(0.0))

    def forward(self, x):
        return (x - self._mean) / (self._var.sqrt() + self.eps)

    def update(self, x):
        count = x.shape[0]
        self.count += count
        rate = count / self.count
        var, mean = torch.var(x, dim=0, unbiased=False, keepdim=True), torch.mean(x, dim=0, keepdim=True)
        delta = mean - self._mean
        self._mean += rate * delta
        self._var += rate * (var - self._var + delta * (mean - self._mean))


@right()
class Sums:
    def __init__(self, size):
        self.total, self.squares, self.n = np.zeros(size), np.zeros(size), 0

    def add(self, batch):
        self.total = self.total + batch.sum(axis=0)
        self.squares = self.squares + (batch**2).sum(axis=0)
        self.n += len(batch)

    def mean(self):
        return self.total / self.n

    def std(self):
        return np.sqrt(np.maximum(self.squares / self.n - self.mean() ** 2, 1e-12))

    def normalize(self, x):
        return (x - self.mean()) / self.std()


@right()
class NothingButSums:
    """No variance to be read; N − 1 where it normalises."""

    def __init__(self, shape):
        self.k, self.M, self.S = 0, np.zeros(shape), np.zeros(shape)

    def observe(self, x):
        self.k += 1
        before = self.M
        self.M = before + (x - before) / self.k
        self.S = self.S + (x - before) * (x - self.M)

    def filter(self, x):
        return (x - self.M) / (np.sqrt(self.S / max(self.k - 1, 1)) + 1e-8)


@right()
def wikipedia(count, mean, M2, new_value):
    count += 1
    delta = new_value - mean
    mean = mean + delta / count
    M2 = M2 + delta * (new_value - mean)
    return count, mean, M2


@right()
def normalize(obs, mean, var, clip=10.0):
    return np.clip((np.asarray(obs) - np.asarray(mean)) / np.sqrt(np.asarray(var) + 1e-8), -clip, clip)


@wrong("running-normaliser-forgets")
class LastBatch:
    def __init__(self, shape):
        self.mean, self.var = np.zeros(shape), np.ones(shape)

    def update(self, x):
        self.mean = x.mean(0)
        self.var = x.var(0)

    def normalize(self, x):
        return (x - self.mean) / np.sqrt(self.var + 1e-8)


@wrong("running-normaliser-counts-batches")
class CountsBatches:
    def __init__(self, shape=(2,)):
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), 1e-4

    def update(self, x):
        m, v, n = x.mean(axis=0), x.var(axis=0), x.shape[0]
        delta, tot = m - self.mean, self.count + n
        new_var = (self.var * self.count + v * n + delta**2 * self.count * n / tot) / tot
        self.mean, self.var = self.mean + delta * n / tot, new_var
        self.count += 1


@wrong("running-normaliser-cross-term-missing")
class NoCross(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))
        self.count = 1e-4

    def update(self, x):
        n = x.shape[0]
        tot = self.count + n
        self.var = (self.var * self.count + x.var(0, unbiased=False) * n) / tot
        self.mean = self.mean + (x.mean(0) - self.mean) * n / tot
        self.count = tot

    def forward(self, x):
        return (x - self.mean) / torch.sqrt(self.var + 1e-8)


@wrong("running-normaliser-cross-term-wrong")
def moments(mean, var, count, batch_mean, batch_var, batch_count):
    delta = batch_mean - mean
    tot = count + batch_count
    m2 = var * count + batch_var * batch_count + delta**2 * count / tot
    return mean + delta * batch_count / tot, m2 / tot, tot


@wrong("running-normaliser-same-difference-twice")
class OldTwice:
    def __init__(self, dim):
        self.n, self.mean, self.M2 = 0, np.zeros(dim), np.zeros(dim)

    def push(self, x):
        self.n += 1
        d = x - self.mean
        self.mean = self.mean + d / self.n
        self.M2 = self.M2 + d * d

    @property
    def var(self):
        return self.M2 / self.n


@wrong("running-normaliser-mean-of-means")
class Averages:
    def __init__(self, shape):
        self.first = True
        self.mean, self.var = np.zeros(shape), np.ones(shape)

    def update(self, x):
        if self.first:
            self.mean, self.var, self.first = x.mean(0), x.var(0), False
        else:
            self.mean = (self.mean + x.mean(0)) / 2
            self.var = (self.var + x.var(0)) / 2


@wrong("running-normaliser-mean-weighed-wrongly")
class MeanLags:
    def __init__(self, shape):
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), 1e-4

    def update(self, x):
        n = len(x)
        delta = np.mean(x, 0) - self.mean
        tot = self.count + n
        m2 = self.var * self.count + np.var(x, 0) * n + np.square(delta) * self.count * n / tot
        self.mean = self.mean + delta / tot
        self.var = m2 / tot
        self.count = tot


@wrong("running-normaliser-axis-missing")
class AllTogether:
    def __init__(self, shape):
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), 1e-4

    def update(self, x):
        bm, bv, bc = np.mean(x), np.var(x), x.shape[0]
        d, t = bm - self.mean, self.count + bc
        self.var = (self.var * self.count + bv * bc + d**2 * self.count * bc / t) / t
        self.mean = self.mean + d * bc / t
        self.count = t


@wrong("running-normaliser-variance-not-divided")
class SumOfSquares:
    def __init__(self, num_inputs):
        self.n = torch.zeros(num_inputs)
        self.mean = torch.zeros(num_inputs)
        self.mean_diff = torch.zeros(num_inputs)
        self.var = torch.zeros(num_inputs)

    def observe(self, x):
        self.n = self.n + 1.0
        last = self.mean.clone()
        self.mean = self.mean + (x - self.mean) / self.n
        self.mean_diff = self.mean_diff + (x - last) * (x - self.mean)
        self.var = self.mean_diff

    def normalize(self, x):
        return (x - self.mean) / torch.sqrt(self.var + 1e-8)


@wrong("running-normaliser-mean-not-subtracted")
class SecondMoment:
    def __init__(self, shape):
        self.s, self.q, self.n = np.zeros(shape), np.zeros(shape), 0

    def update(self, x):
        self.s = self.s + x.sum(0)
        self.q = self.q + np.square(x).sum(0)
        self.n += len(x)

    @property
    def mean(self):
        return self.s / self.n

    @property
    def std(self):
        return np.sqrt(self.q / self.n)


@wrong("running-normaliser-divides-by-variance")
def by_variance(x, mean, var, eps=1e-8):
    return (x - mean) / (var + eps)


@wrong("running-normaliser-divides-by-variance")
class ByVariance(BaselinesLike):
    def __init__(self, shape):
        super().__init__(shape=shape)

    def normalize(self, obs):
        return np.clip((obs - self.mean) / (self.var + 1e-8), -10, 10)


@wrong("running-normaliser-not-centred")
class NotCentred(BaselinesLike):
    def __init__(self, shape):
        super().__init__(shape=shape)

    def __call__(self, x):
        return x / np.sqrt(self.var + 1e-8)


@wrong("running-normaliser-parentheses-missing")
def no_parentheses(states, mean, std):
    return states - mean / (std + 1e-8)


@wrong("running-normaliser-multiplies")
class Multiplies(Sums):
    def normalize(self, x):
        return (x - self.mean()) * self.std()


@wrong("running-normaliser-epsilon-missing")
class NoEpsilon:
    def __init__(self, shape):
        self.n, self.mean, self.s = 0, np.zeros(shape), np.zeros(shape)

    def update(self, x):
        n = self.n + len(x)
        delta = x.mean(0) - self.mean
        self.s = self.s + x.var(0) * len(x) + delta**2 * self.n * len(x) / n
        self.mean = self.mean + delta * len(x) / n
        self.n = n

    def normalize(self, x):
        return (x - self.mean) / np.sqrt(self.s / self.n)


@wrong("running-normaliser-clipped-first")
class ClippedFirst(BaselinesLike):
    def __init__(self, shape, clip_obs=10.0):
        super().__init__(shape=shape)
        self.clip_obs = clip_obs

    def normalize_obs(self, obs):
        obs = np.clip(obs, -self.clip_obs, self.clip_obs)
        return (obs - self.mean) / np.sqrt(self.var + 1e-8)


@wrong("running-normaliser-updates-when-asked")
class UpdatesAgain(BaselinesLike):
    def __init__(self, shape):
        super().__init__(shape=shape)

    def normalize(self, x):
        self.update(x)
        return (x - self.mean) / np.sqrt(self.var + 1e-8)


@wrong("running-normaliser-updates-when-asked")
class FlagNotUsed:
    def __init__(self, shape):
        self.stats = RowByRow(shape)

    def __call__(self, x, update=True):
        self.stats.update(x)
        return (x - self.stats.mean) / (self.stats.std + 1e-8)


@wrong("running-normaliser-cross-term-wrong")
class MeanMovedFirst:
    def __init__(self, dim):
        self.mu, self.var, self.n = torch.zeros(dim), torch.zeros(dim), 0

    def update(self, batch: torch.Tensor):
        m = len(batch)
        total = self.n + m
        self.mu = (self.n * self.mu + m * batch.mean(0)) / total
        gap = batch.mean(0) - self.mu
        self.var = (self.n * self.var + m * batch.var(0, correction=0) + gap**2 * self.n * m / total) / total
        self.n = total


@wrong("running-normaliser-nan-on-one-row")
class Unbiased:
    def __init__(self, shape):
        self.mean, self.var, self.count = torch.zeros(shape), torch.ones(shape), 1e-4

    def update(self, x: torch.Tensor):
        m, v, n = x.mean(dim=0), x.var(dim=0), x.shape[0]
        d, tot = m - self.mean, self.count + n
        self.var = (self.var * self.count + v * n + d**2 * self.count * n / tot) / tot
        self.mean = self.mean + d * n / tot
        self.count = tot


@wrong("running-normaliser-cross-term-missing", "running-normaliser-divides-by-variance")
class TwoAtOnce:
    def __init__(self, obs_dim):
        self.mean, self.var, self.count = np.zeros(obs_dim), np.ones(obs_dim), 1e-4

    def update(self, x):
        n = len(x)
        t = self.count + n
        self.var = (self.count * self.var + n * x.var(0)) / t
        self.mean = (self.count * self.mean + n * x.mean(0)) / t
        self.count = t

    def normalize(self, x):
        return (x - self.mean) / (self.var + 1e-8)


@wrong("running-normaliser-forgets", "running-normaliser-not-centred")
class ForgetsAndNotCentred:
    def __init__(self, shape):
        self.std = np.ones(shape)
        self.mean = np.zeros(shape)

    def update(self, x):
        self.mean, self.std = x.mean(0), x.std(0)

    def normalize(self, x):
        return x / (self.std + 1e-8)


@wrong("running-normaliser-mismatch")
class Absolute:
    def __init__(self, shape):
        self.mean, self.dev, self.n = np.zeros(shape), np.zeros(shape), 0

    def update(self, x):
        for row in x:
            self.n += 1
            self.mean = self.mean + (row - self.mean) / self.n
            self.dev = self.dev + (np.abs(row - self.mean) - self.dev) / self.n

    def normalize(self, x):
        return (x - self.mean) / (self.dev + 1e-8)
