"""The importance ratio, as people write it."""

from __future__ import annotations

import math

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def cleanrl_like(newlogprob, b_logprobs):
    logratio = newlogprob - b_logprobs
    return logratio.exp()


@right()
def with_lists(new_log_probs, old_log_probs):
    return [math.exp(n - o) for n, o in zip(new_log_probs, old_log_probs, strict=False)]


@right()
def joint(log_probs, old_log_probs):
    # both (batch, action_dim)
    return torch.exp(log_probs.sum(dim=1) - old_log_probs.sum(dim=1))


@right()
def product_of_ratios(logp, logp_old):
    return np.prod(np.exp(logp - logp_old), axis=1)


@right()
def of_probabilities(pi, pi_old):
    return pi / (pi_old + 1e-8)


@right()
def v_trace_rho(target_action_log_probs, behavior_action_log_probs, clip_rho_threshold):
    log_rhos = target_action_log_probs - behavior_action_log_probs
    return torch.clamp(torch.exp(log_rhos), max=clip_rho_threshold)


@right()
def method(self, rollout_data, log_prob):
    return torch.exp(torch.clamp(log_prob - rollout_data.old_log_prob, -20, 20))


@right()
def truncated(log_pi, log_mu):
    return np.minimum(1.0, np.exp(log_pi - log_mu))


@right()
def of_negative_logs(neglogp, old_neglogp):
    return np.exp(old_neglogp - neglogp)


@right()
def of_logits(new_logits, old_logits, actions):
    new = torch.distributions.Categorical(logits=new_logits).log_prob(actions)
    old = torch.distributions.Categorical(logits=old_logits).log_prob(actions)
    return torch.exp(new - old)


@right()
def kept_axis(new_lp, old_lp):
    return torch.exp((new_lp - old_lp).sum(-1, keepdim=True))


@wrong("importance-ratio-logits-not-normalised")
def logits_as_logs(logits, old_logits, actions):
    rows = torch.arange(len(actions))
    return torch.exp(logits[rows, actions] - old_logits[rows, actions])


@wrong("importance-ratio-dimensions-averaged")
def mean_with_kept_axis(logp, old_logp):
    return np.exp((logp - old_logp).mean(axis=-1, keepdims=True))


@wrong("importance-ratio-inverted")
def negative_logs_swapped(neg_log_prob, old_neg_log_prob):
    return torch.exp(neg_log_prob - old_neg_log_prob)


@wrong("importance-ratio-inverted")
def swapped(logp, old_logp):
    return (old_logp - logp).exp()


@wrong("importance-ratio-without-exp")
def difference(new_logprobs, old_logprobs):
    return new_logprobs - old_logprobs


@wrong("importance-ratio-logs-divided")
def quotient_of_logs(batch):
    return batch["log_prob"] / batch["old_log_prob"]


@wrong("importance-ratio-probabilities-subtracted")
def minus_of_probs(logp_new, logp_old):
    return np.exp(logp_new) - np.exp(logp_old)


@wrong("importance-ratio-old-ignored")
def only_new(log_probs, behavior_log_probs):
    return torch.exp(log_probs)


@wrong("importance-ratio-always-one")
def with_itself(self, log_probs, old_log_probs):
    old_log_probs = log_probs.detach()
    return torch.exp(log_probs - old_log_probs)


@wrong("importance-ratio-dimensions-averaged")
def mean_over_dims(new_logp, old_logp):
    return torch.exp((new_logp - old_logp).mean(-1))


@wrong("importance-ratio-summed-after-exp")
def exp_then_sum(action_log_probs, old_action_log_probs):
    r = np.exp(action_log_probs - old_action_log_probs)
    return r.sum(axis=-1)


@wrong("importance-ratio-summed-after-exp")
def exp_then_mean(log_prob, old_log_prob):
    return (log_prob - old_log_prob).exp().mean(1)


@wrong("importance-ratio-minus-one")
def relative_change(logp, logp_old):
    return torch.expm1(logp - logp_old)


@wrong("importance-ratio-cap-from-below")
def at_least(logp, behaviour_logp, rho_bar):
    return torch.exp(logp - behaviour_logp).clamp(min=rho_bar)


@wrong("importance-ratio-cap-ignored")
def uncapped(logp, mu_logp, rho_bar=1.0):
    return np.exp(logp - mu_logp)


@wrong("importance-ratio-inverted", "importance-ratio-dimensions-averaged")
def inverted_mean(log_probs, old_log_probs):
    return np.exp(np.mean(old_log_probs - log_probs, axis=1))


@wrong("importance-ratio-inverted", "importance-ratio-minus-one")
def inverted_change(logp, old_logp):
    return torch.exp(old_logp - logp) - 1


@wrong("importance-ratio-mismatch")
def squared(logp, old_logp):
    return torch.exp(2 * (logp - old_logp))
