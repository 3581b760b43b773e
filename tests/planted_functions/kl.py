"""KL divergence between policies, as people write it."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Categorical, Normal, kl_divergence

from tests.planted_functions import right, wrong


@right()
def spinning_up_like(logp, logp_old):
    return (logp_old - logp).mean().item()


@right()
def cleanrl_like(newlogprob, b_logprobs):
    logratio = newlogprob - b_logprobs
    ratio = logratio.exp()
    return ((ratio - 1) - logratio).mean()


@right()
def baselines_like(neglogpac, OLDNEGLOGPAC):
    return 0.5 * np.mean(np.square(neglogpac - OLDNEGLOGPAC))


@right()
def categorical(old_logits, logits):
    p = F.softmax(old_logits, -1)
    return (p * (F.log_softmax(old_logits, -1) - F.log_softmax(logits, -1))).sum(-1)


@right()
def of_distributions(old_dist, new_dist):
    return kl_divergence(old_dist, new_dist).mean()


@right()
def diagonal_gaussian_kl(mu0, log_std0, mu1, log_std1):
    var0, var1 = torch.exp(2 * log_std0), torch.exp(2 * log_std1)
    pre_sum = 0.5 * (((mu1 - mu0) ** 2 + var0) / (var1 + 1e-8) - 1) + log_std1 - log_std0
    return pre_sum.sum(1).mean()


@right()
def gaussians(mean, std, old_mean, old_std):
    return kl_divergence(Normal(old_mean, old_std), Normal(mean, std)).sum(-1)


@right()
def grpo_like(per_token_logps, ref_per_token_logps):
    return torch.exp(ref_per_token_logps - per_token_logps) - (ref_per_token_logps - per_token_logps) - 1


@right()
def batchmean(old_probs, probs):
    return F.kl_div(probs.log(), old_probs, reduction="batchmean")


@right()
def loops(p, q):
    out = []
    for row_p, row_q in zip(p, q, strict=False):
        out.append(sum(a * math.log(a / b) for a, b in zip(row_p, row_q, strict=False)))
    return out


@right()
def method(self, rollout_data, log_prob):
    with torch.no_grad():
        log_ratio = log_prob - rollout_data.old_log_prob
        return torch.mean((torch.exp(log_ratio) - 1) - log_ratio).cpu().numpy()


@wrong("kl-reversed")
def new_first(old_dist, new_dist):
    return kl_divergence(new_dist, old_dist).mean()


@wrong("kl-reversed")
def new_minus_old(log_probs, old_log_probs):
    return (log_probs - old_log_probs).mean()


@wrong("kl-reversed")
def k3_of_the_inverse(logp, old_logp):
    r = old_logp - logp
    return np.mean(np.exp(r) - 1 - r)


@wrong("kl-sign-flipped")
def minus(old_probs, new_probs):
    return (old_probs * (new_probs / old_probs).log()).sum(-1)


@wrong("kl-constant-missing")
def k3_without_one(logp, logp_old):
    logratio = logp - logp_old
    return (logratio.exp() - logratio).mean()


@wrong("kl-constant-missing")
def gaussian_without_half(mu, sigma, mu_old, sigma_old):
    return (np.log(sigma / sigma_old) + (sigma_old**2 + (mu_old - mu) ** 2) / (2 * sigma**2)).sum(-1)


@wrong("kl-not-halved")
def squared(log_probs, old_log_probs):
    return ((log_probs - old_log_probs) ** 2).mean()


@wrong("kl-std-not-squared")
def std_for_var(old_mean, old_std, mean, std):
    term = (old_std + (old_mean - mean) ** 2) / (2 * std)
    return (torch.log(std) - torch.log(old_std) + term - 0.5).sum(dim=1).mean()


@wrong("kl-log-term-missing")
def ratio_minus_one(newlogprob, oldlogprob):
    return ((newlogprob - oldlogprob).exp() - 1).mean()


@wrong("kl-log-term-sign-flipped")
def k3_plus(logratio):
    return (logratio.exp() - 1 + logratio).mean()


@wrong("kl-log-term-sign-flipped")
def gaussian_log_turned(mu_old, log_std_old, mu_new, log_std_new):
    var_old, var_new = np.exp(2 * log_std_old), np.exp(2 * log_std_new)
    each = log_std_old - log_std_new + (var_old + (mu_old - mu_new) ** 2) / (2 * var_new) - 0.5
    return each.sum(axis=-1).mean()


@wrong("kl-means-ignored")
def only_spreads(old_mean, old_log_std, mean, log_std):
    d = log_std - old_log_std
    return (d + 0.5 * torch.exp(-2 * d) - 0.5).sum(-1)


@wrong("kl-old-variance-below")
def old_below(mean, std, old_mean, old_std):
    return (torch.log(std / old_std) + (old_std**2 + (mean - old_mean) ** 2) / (2 * old_std**2) - 0.5).sum(-1)


@wrong("kl-not-summed-over-dimensions")
def mean_of_all(old_mu, old_std, mu, std):
    return kl_divergence(Normal(old_mu, old_std), Normal(mu, std)).mean()


@wrong("kl-logits-not-normalised")
def raw_logits(batch, logits):
    old = batch["old_logits"]
    return (torch.softmax(old, -1) * (old - logits)).sum(-1).mean()


@wrong("kl-logits-as-probabilities")
def positional(old_logits, new_logits):
    return kl_divergence(Categorical(old_logits), Categorical(new_logits)).mean()


@wrong("kl-probabilities-for-logs")
def kl_div_of_probabilities(probs, old_probs):
    return F.kl_div(probs, old_probs, reduction="batchmean")


@wrong("kl-not-weighted")
def differences(old_probs, probs):
    return (old_probs.log() - probs.log()).sum(-1)


@wrong("kl-weighted-by-new")
def new_weights(probs, old_probs):
    return np.sum(probs * (np.log(old_probs) - np.log(probs)), axis=-1)


@wrong("kl-averaged-over-actions")
def kl_div_mean(p, q):
    return F.kl_div(q.log(), p, reduction="mean")


@wrong("kl-summed-over-batch")
def total(logp, old_logp):
    return (old_logp - logp).sum()


@wrong("kl-always-zero")
def same_twice(old_logits, logits):
    old_dist = Categorical(logits=logits)
    return kl_divergence(old_dist, Categorical(logits=logits)).mean()


@wrong("kl-reversed", "kl-averaged-over-actions")
def reversed_mean(old_probs, new_probs):
    return F.kl_div(old_probs.log(), new_probs, reduction="mean")


@wrong("kl-reversed", "kl-not-summed-over-dimensions")
def reversed_dims(mu_old, std_old, mu_new, std_new):
    return kl_divergence(Normal(mu_new, std_new), Normal(mu_old, std_old)).mean()


@wrong("kl-mismatch")
def total_variation(old_probs, probs):
    return 0.5 * (old_probs - probs).abs().sum(-1)
