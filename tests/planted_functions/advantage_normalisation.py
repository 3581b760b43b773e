"""Normalising advantages, as people write it."""

from __future__ import annotations

import statistics

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def usual(advantages):
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


@right()
def sb3_like(self, rollout_data):
    advantages = rollout_data.advantages
    if len(advantages) > 1:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return advantages


@right()
def in_numpy(adv, eps=1e-5):
    adv = np.asarray(adv, dtype=np.float32)
    return (adv - np.mean(adv)) / (np.std(adv) + eps)


@right()
def inside_the_root(x):
    mean, var = x.mean(), x.var(unbiased=False)
    return (x - mean) * torch.rsqrt(var + 1e-8)


@right()
def from_returns(returns, values):
    advantages = returns - values
    return (advantages - advantages.mean()) / (advantages.std() + 1e-5)


@right()
def by_hand(advs):
    mean, std = statistics.fmean(advs), statistics.pstdev(advs)
    return [(a - mean) / (std + 1e-8) for a in advs]


@right()
def masked_whiten(values, mask):
    mean = (values * mask).sum() / mask.sum()
    var = ((values - mean) ** 2 * mask).sum() / mask.sum()
    n = mask.sum()
    return (values - mean) * torch.rsqrt(var * n / (n - 1) + 1e-8)


@right()
def ikostrikov_like(self, returns, value_preds):
    advantages = returns[:-1] - value_preds[:-1]
    return (advantages - advantages.mean()) / (advantages.std() + 1e-5)


@right()
def without_epsilon(batch):
    a = batch["advantages"]
    return (a - a.mean()) / a.std()


@right()
def guarded(gae):
    spread = gae.std()
    if spread < 1e-6:
        return gae - gae.mean()
    return (gae - gae.mean()) / spread


@wrong("advantage-normalisation-per-environment")
def along_time(advantages):
    return (advantages - advantages.mean(0)) / (advantages.std(0) + 1e-8)


@wrong("advantage-normalisation-per-environment")
def along_time_numpy(adv):
    return (adv - adv.mean(axis=0, keepdims=True)) / (adv.std(axis=0, keepdims=True) + 1e-8)


@wrong("advantage-normalisation-per-environment")
def each_env(advs):
    out = np.zeros_like(advs)
    for e in range(advs.shape[1]):
        out[:, e] = (advs[:, e] - advs[:, e].mean()) / (advs[:, e].std() + 1e-8)
    return out


@wrong("advantage-normalisation-per-step")
def along_environments(adv):
    return (adv - adv.mean(1, keepdim=True)) / (adv.std(1, keepdim=True, unbiased=False) + 1e-8)


@wrong("advantage-normalisation-not-centred")
def only_scaled(self, advantages):
    return advantages / (advantages.std() + 1e-8)


@wrong("advantage-normalisation-not-scaled")
def only_centred(advantages):
    advantages = advantages - advantages.mean()
    return advantages


@wrong("advantage-normalisation-by-variance")
def variance(gae):
    return (gae - np.mean(gae)) / (np.var(gae) + 1e-8)


@wrong("advantage-normalisation-sign-flipped")
def from_values(values, returns):
    adv = values - returns
    return (adv - adv.mean()) / (adv.std() + 1e-8)


@wrong("advantage-normalisation-multiplied")
def times(a):
    return (a - a.mean()) * a.std()


@wrong("advantage-normalisation-epsilon-large")
def plus_one(advantages):
    return (advantages - advantages.mean()) / (advantages.std() + 1)


@wrong("advantage-normalisation-deviation-about-zero")
def root_mean_square(adv):
    return (adv - adv.mean()) / (torch.sqrt((adv**2).mean()) + 1e-8)


@wrong("advantage-normalisation-to-range")
def min_max(adv):
    return (adv - adv.min()) / (adv.max() - adv.min() + 1e-8)


@wrong("advantage-normalisation-of-first-only")
def first_environment(advantages):
    mean, std = advantages[:, 0].mean(), advantages[:, 0].std()
    return (advantages - mean) / (std + 1e-8)


@wrong("advantage-normalisation-bracket-missing")
def no_bracket(advantages):
    return advantages - advantages.mean() / (advantages.std() + 1e-8)


@wrong("advantage-normalisation-mask-ignored")
def whiten_all(advantages, mask):
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8) * mask


@wrong("advantage-normalisation-not-centred", "advantage-normalisation-by-variance")
def over_variance(adv):
    return adv / (adv.var() + 1e-8)


@wrong("advantage-normalisation-sign-flipped", "advantage-normalisation-per-environment")
def turned_per_env(adv):
    return (adv.mean(0) - adv) / (adv.std(0) + 1e-8)


@wrong("advantage-normalisation-mismatch")
def signs(adv):
    return torch.tanh(adv - adv.mean())
