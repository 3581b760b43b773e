"""Entropy of a policy, as people write it."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Categorical, MultivariateNormal, Normal

from tests.planted_functions import right, wrong


@right()
def with_torch(logits):
    return Categorical(logits=logits).entropy()


@right()
def by_hand(probs):
    return -(probs * torch.log(probs + 1e-8)).sum(dim=-1).mean()


@right()
def baselines_like(logits):
    a0 = logits - logits.max(axis=-1, keepdims=True)
    ea0 = np.exp(a0)
    z0 = ea0.sum(axis=-1, keepdims=True)
    p0 = ea0 / z0
    return np.sum(p0 * (np.log(z0) - a0), axis=-1)


@right()
def gaussian(mean, log_std):
    std = log_std.exp().expand_as(mean)
    return Normal(mean, std).entropy().sum(-1)


@right()
def gaussian_closed(log_std):
    return np.sum(log_std + 0.5 * np.log(2.0 * np.pi * np.e), axis=-1)


@right()
def of_covariance(mu, cov_mat):
    return MultivariateNormal(mu, cov_mat).entropy()


@right()
def estimated(log_prob):
    return -log_prob.mean()


@right()
def entropy_loss(dist):
    return -dist.entropy().mean()


@right()
def masked(logits, action_mask):
    logits = torch.where(action_mask.bool(), logits, torch.tensor(-1e8))
    p = F.softmax(logits, dim=-1)
    p_log_p = F.log_softmax(logits, -1) * p
    return -torch.where(action_mask.bool(), p_log_p, torch.tensor(0.0)).sum(-1)


@right()
def lists(probabilities):
    return [-sum(p * math.log(p) for p in row if p > 0) for row in probabilities]


@right()
def one_state(probs):
    return -sum(float(p) * math.log(float(p)) for p in probs)


@right()
def method(self, batch):
    log_p = F.log_softmax(batch["logits"], dim=1)
    return -(log_p.exp() * log_p).sum(1).mean()


@right()
def of_distribution(dist):
    return dist.entropy().sum(-1)


@right()
class MaskedHead(Categorical):
    def __init__(self, logits, mask):
        self.mask = mask
        super().__init__(logits=torch.where(mask, logits, torch.tensor(-1e8)))

    def entropy(self):
        return -(self.logits * self.probs).masked_fill(~self.mask, 0.0).sum(-1)


@wrong("entropy-sign-flipped")
def no_minus(probs):
    return (probs * probs.log()).sum(-1)


@wrong("entropy-sign-flipped")
def samples_no_minus(log_probs):
    return torch.mean(log_probs)


@wrong("entropy-in-other-units")
def bits(probs):
    return -np.sum(probs * np.log2(probs), axis=1)


@wrong("entropy-not-summed-over-dimensions")
def dims_averaged(mean, std):
    return Normal(mean, std).entropy().mean()


@wrong("entropy-not-summed-over-dimensions")
def each_dimension(mu, log_std):
    return Normal(mu, torch.exp(log_std)).entropy()


@wrong("entropy-logits-as-probabilities")
def positional(logits):
    return Categorical(logits).entropy().mean()


@wrong("entropy-logits-as-probabilities")
def logits_raw(logits):
    return -(logits * np.log(logits)).sum(-1)


@wrong("entropy-softmax-twice")
def softmax_again(probs):
    return Categorical(logits=probs).entropy()


@wrong("entropy-softmax-over-batch")
def wrong_axis(logits):
    p = torch.softmax(logits, 0)
    return -(p * torch.log(p)).sum(1).mean()


@wrong("entropy-constant-wrong")
def only_log_std(log_std):
    return log_std.sum(dim=-1)


@wrong("entropy-constant-wrong")
def log_of_2pi_not_halved(log_std):
    return (0.5 + math.log(2 * math.pi) + log_std).sum(-1).mean()


@wrong("entropy-constant-wrong")
def constant_once(std):
    return np.log(std).sum(axis=1) + 0.5 * np.log(2 * np.pi * np.e)


@wrong("entropy-std-and-variance-confused")
def not_squared(sigma):
    return (0.5 * torch.log(2 * math.pi * math.e * sigma)).sum(-1)


@wrong("entropy-std-and-variance-confused")
def variance_as_scale(mean, var):
    return Normal(mean, var).entropy().sum(1)


@wrong("entropy-log-std-and-std-confused")
def no_exp(mean, log_std):
    return Normal(mean, log_std).entropy().sum(dim=-1).mean()


@wrong("entropy-mask-ignored")
def mask_unused(logits, mask):
    return Categorical(logits=logits).entropy()


@wrong("entropy-mask-after-softmax")
def masked_after(logits, legal_actions):
    p = torch.softmax(logits, -1) * legal_actions
    return -(p * torch.log(p.clamp(min=1e-9))).sum(-1)


@wrong("entropy-nan-where-masked")
def infinite(logits, action_masks):
    logits = logits.masked_fill(action_masks == 0, float("-inf"))
    log_p = torch.log_softmax(logits, dim=-1)
    return -(log_p.exp() * log_p).sum(-1)


@wrong("entropy-masked-logits-zero")
def times_mask(logits, mask):
    return Categorical(logits=logits * mask).entropy()


@wrong("entropy-not-weighted")
def sum_of_logs(action_probs):
    return -torch.log(action_probs).sum(dim=1)


@wrong("entropy-averaged-over-actions")
def mean_of_terms(probs):
    return -(probs * torch.log(probs)).mean()


@wrong("entropy-summed-over-batch")
def sum_of_everything(logits):
    p = torch.softmax(logits, dim=1)
    return -(p * torch.log(p)).sum()


@wrong("entropy-of-mean-policy")
def averaged_first(probs):
    p = probs.mean(0)
    return -(p * p.log()).sum()


@wrong("entropy-samples-weighted-twice")
def weighed_samples(log_prob):
    return -(log_prob.exp() * log_prob).mean()


@wrong("entropy-sign-flipped", "entropy-averaged-over-actions")
def plus_mean(probs):
    return (probs * probs.log()).mean()


@wrong("entropy-sign-flipped", "entropy-not-summed-over-dimensions")
def minus_gaussian_mean(mean, std):
    return -Normal(mean, std).entropy().mean()


@wrong("entropy-mismatch")
def gini(probs):
    return 1 - (probs**2).sum(-1)
