"""Running moments and the two normalisers built on them."""
import numpy as np


def empty_moments(shape):
    return {"n": 0, "mean": np.zeros(shape), "m2": np.zeros(shape)}


def merge(stats, batch):
    """Chan's update of the moments with a batch of shape (n, ...)."""
    n = batch.shape[0]
    mean = batch.mean(axis=0)
    m2 = ((batch - mean) ** 2).sum(axis=0)
    total = stats["n"] + n
    gap = mean - stats["mean"]
    return {
        "n": total,
        "mean": stats["mean"] + gap * n / total,
        "m2": stats["m2"] + m2 + gap**2 * stats["n"] * n / total,
    }


def deviation(stats):
    std = np.sqrt(stats["m2"] / max(stats["n"], 1))
    return np.where(std < 1e-6, 1.0, std)


class ObsNorm:
    """Statistics change only in absorb(), so that they stand still during a rollout."""

    def __init__(self, dim):
        self.stats = empty_moments((dim,))

    def absorb(self, raw):
        self.stats = merge(self.stats, raw.reshape(-1, raw.shape[-1]))

    def __call__(self, raw):
        return ((raw - self.stats["mean"]) / deviation(self.stats)).astype(np.float32)


class RewardNorm:
    """Divides rewards by the deviation of the discounted return."""

    def __init__(self, n_envs, gamma):
        self.gamma = gamma
        self.acc = np.zeros(n_envs)
        self.stats = empty_moments(())

    def __call__(self, reward, done):
        self.acc = self.gamma * self.acc + reward
        self.stats = merge(self.stats, self.acc)
        self.acc = self.acc * (1.0 - done)
        return reward / deviation(self.stats)
