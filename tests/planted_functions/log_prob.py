"""Log-probability of an action, as people write it."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import (
    AffineTransform,
    Categorical,
    Independent,
    MultivariateNormal,
    Normal,
    TanhTransform,
    TransformedDistribution,
)

from tests.planted_functions import right, wrong


@right()
def cleanrl_sac_like(self, mean, log_std, x_t):
    std = log_std.exp()
    normal = Normal(mean, std)
    y_t = torch.tanh(x_t)
    action = y_t * self.action_scale + self.action_bias
    log_prob = normal.log_prob(x_t)
    log_prob -= torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
    return action, log_prob.sum(1, keepdim=True)


@right()
def spinning_up_like(mu, log_std, pi_action, act_limit):
    logp_pi = Normal(mu, torch.exp(log_std)).log_prob(pi_action).sum(axis=-1)
    logp_pi -= (2 * (np.log(2) - pi_action - F.softplus(-2 * pi_action))).sum(axis=1)
    return act_limit * torch.tanh(pi_action), logp_pi


@right()
def tianshou_like(log_prob, tanh_squashed_action, eps=1e-6):
    correction = torch.log(1 - tanh_squashed_action.pow(2) + eps).sum(-1, keepdim=True)
    return log_prob - correction


@right()
def gaussian_in_numpy(x, mu, log_std):
    pre_sum = -0.5 * (((x - mu) / (np.exp(log_std) + 1e-8)) ** 2 + 2 * log_std + np.log(2 * np.pi))
    return np.sum(pre_sum, axis=1)


@right()
def transformed(mean, std, action, scale):
    dist = TransformedDistribution(Normal(mean, std), [TanhTransform(), AffineTransform(0.0, scale)])
    return Independent(dist, 1).log_prob(action)


@right()
def sb3_like(mean_actions, log_std, actions, gaussian_actions):
    log_prob = Normal(mean_actions, log_std.exp()).log_prob(gaussian_actions).sum(dim=1)
    log_prob -= torch.sum(torch.log(1 - actions**2 + 1e-6), dim=1)
    return log_prob


@right()
def clipped_only_for_the_environment(mean, std, action, low, high):
    dist = Normal(mean, std)
    env_action = torch.clamp(action, low, high)
    return dist.log_prob(action).sum(-1), env_action


@right()
def multivariate(action_mean, action_var, action):
    return MultivariateNormal(action_mean, torch.diag_embed(action_var)).log_prob(action)


@right()
def discrete(logits, actions):
    return Categorical(logits=logits).log_prob(actions)


@right()
def gathered(batch):
    log_p = F.log_softmax(batch["logits"], dim=-1)
    return log_p.gather(1, batch["actions"].long().unsqueeze(1)).squeeze(1)


@right()
def with_loops(mus, sigmas, acts):
    out = []
    for mu, s, a in zip(mus, sigmas, acts, strict=False):
        total = 0.0
        for m, d, x in zip(mu, s, a, strict=True):
            total += -((x - m) ** 2) / (2 * d * d) - math.log(d) - 0.5 * math.log(2 * math.pi)
        out.append(total)
    return out


@right()
def of_distribution(dist, action):
    return dist.log_prob(action).sum(-1)


@right()
def nll(logits, actions):
    return F.cross_entropy(logits, actions, reduction="none")


@right()
class SquashedGaussian(torch.distributions.Distribution):
    def __init__(self, loc, scale):
        super().__init__(validate_args=False)
        self.normal = Normal(loc, scale)

    def log_prob(self, action):
        u = torch.atanh(action)
        return (self.normal.log_prob(u) - torch.log1p(-action.pow(2))).sum(-1)


@wrong("log-prob-not-summed")
class GaussianHead:
    def __init__(self, action_dim):
        self.action_dim = action_dim

    def proba_distribution(self, mean_actions, log_std):
        self.distribution = Normal(mean_actions, log_std.exp())
        return self

    def log_prob(self, actions):
        return self.distribution.log_prob(actions)


@wrong("log-prob-log-det-missing")
def no_correction(mean, log_std, pre_tanh):
    action = torch.tanh(pre_tanh)
    return action, Normal(mean, log_std.exp()).log_prob(pre_tanh).sum(-1)


@wrong("log-prob-log-det-missing")
def inverted_but_not_corrected(mean, std, action):
    u = torch.atanh(action.clamp(-1 + 1e-6, 1 - 1e-6))
    return Normal(mean, std).log_prob(u).sum(-1)


@wrong("log-prob-log-det-sign-flipped")
def added(mu, sigma, u):
    logp = Normal(mu, sigma).log_prob(u).sum(-1)
    return logp + torch.log(1 - torch.tanh(u) ** 2 + 1e-6).sum(-1)


@wrong("log-prob-tanh-twice")
def squashed_again(mu, std, normal_sample):
    action = torch.tanh(normal_sample)
    log_prob = Normal(mu, std).log_prob(normal_sample)
    log_prob = log_prob - torch.log(1 - torch.tanh(action).pow(2) + 1e-7)
    return log_prob.sum(1, keepdim=True)


squashed_again.__planted__ = (("log-prob-tanh-twice",), {"map": {"u": "normal_sample"}})


@wrong("log-prob-scaled-action-in-log-det")
def scaled_inside(mean, std, raw_actions, max_action):
    action = torch.tanh(raw_actions) * max_action
    log_probs = Normal(mean, std).log_prob(raw_actions)
    log_probs -= torch.log(1 - action.pow(2) + 1e-6)
    return log_probs.sum(1, keepdim=True)


@wrong("log-prob-log-det-wrong")
def not_squared(mean, log_std, z):
    return (Normal(mean, log_std.exp()).log_prob(z) - torch.log(1 - torch.tanh(z) + 1e-6)).sum(-1)


@wrong("log-prob-of-squashed-value")
def of_the_squashed(mean, std, u):
    action = np.tanh(u)
    logp = -0.5 * ((action - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
    return (logp - np.log(1 - action**2 + 1e-6)).sum(-1)


@wrong("log-prob-of-clipped-action")
def clip_first(mean, std, action, action_low, action_high):
    action = action.clamp(action_low, action_high)
    return Normal(mean, std).log_prob(action).sum(-1)


@wrong("log-prob-not-summed")
def each_dimension(self, mean, log_std, action):
    return Normal(mean, log_std.exp()).log_prob(action)


@wrong("log-prob-averaged")
def averaged(mu, std, act):
    return Normal(mu, std).log_prob(act).mean(dim=-1)


@wrong("log-prob-scale-missing")
def unscaled_density(mean, std, action, scale):
    y = action / scale
    return (Normal(mean, std).log_prob(torch.atanh(y)) - torch.log(1 - y**2 + 1e-6)).sum(-1)


@wrong("log-prob-scale-wrong")
def scale_added(mean, log_std, u, act_limit):
    logp = Normal(mean, log_std.exp()).log_prob(u) - torch.log(1 - torch.tanh(u) ** 2 + 1e-6)
    return (logp + math.log(act_limit)).sum(-1)


@wrong("log-prob-std-and-variance-confused")
def std_squared(mean, std, actions):
    return Normal(mean, std**2).log_prob(actions).sum(1)


@wrong("log-prob-std-and-variance-confused")
def std_on_the_diagonal(action_mean, action_std, action):
    return MultivariateNormal(action_mean, torch.diag_embed(action_std)).log_prob(action)


@wrong("log-prob-std-and-variance-confused")
def divided_by_std(mean, log_std, action):
    std = log_std.exp()
    return (-((action - mean) ** 2) / (2 * std) - log_std - 0.5 * math.log(2 * math.pi)).sum(1)


@wrong("log-prob-log-std-as-std")
def no_exp(mean, log_std, action):
    return Normal(mean, log_std).log_prob(action).sum(-1)


@wrong("log-prob-mean-ignored")
def tanh_of_the_mean(mean, std, action):
    return Normal(torch.tanh(mean), std).log_prob(action).sum(-1)


@wrong("log-prob-spread-term-wrong")
def no_log_std(mean, std, action):
    return (-0.5 * ((action - mean) / std) ** 2 - 0.5 * np.log(2 * np.pi)).sum(axis=-1)


@wrong("log-prob-constant-wrong")
def no_constant(batch):
    z = (batch["actions"] - batch["mean"]) / batch["std"]
    return (-0.5 * z**2 - torch.log(batch["std"])).sum(-1)


@wrong("log-prob-square-not-halved")
def not_halved(mu, sigma, a):
    return (-((a - mu) ** 2) / sigma**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)).sum(-1)


@wrong("log-prob-sign-flipped")
def cross_entropy(logits, actions):
    return F.cross_entropy(logits, actions, reduction="none")


@wrong("log-prob-logits-not-normalised")
def raw(logits, actions):
    return logits[torch.arange(len(actions)), actions]


@wrong("log-prob-without-log")
def probability(probs, action):
    return np.array([row[int(i)] for row, i in zip(probs, action, strict=False)])


@wrong("log-prob-logits-as-probabilities")
def positional(logits, action):
    return Categorical(logits).log_prob(action)


@wrong("log-prob-log-det-missing", "log-prob-averaged")
def averaged_uncorrected(mean, log_std, pre_tanh_action):
    return Normal(mean, log_std.exp()).log_prob(pre_tanh_action).mean(-1)


@wrong("log-prob-constant-wrong", "log-prob-spread-term-wrong")
def only_the_square(mean, std, action):
    return (-0.5 * ((action - mean) / std) ** 2).sum(-1)


@wrong("log-prob-log-det-sign-flipped", "log-prob-std-and-variance-confused")
def added_with_variance(mean, std, u):
    logp = Normal(mean, std**2).log_prob(u).sum(-1)
    return logp + torch.log(1 - torch.tanh(u) ** 2 + 1e-6).sum(-1)


@wrong("log-prob-mismatch")
def laplace(mean, std, action):
    return torch.distributions.Laplace(mean, std).log_prob(action).sum(-1)
