"""Policies whose entropy is asked for: what their parameters are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.taken import probs_of
from rldebug.oracles.oracle import Array, Case, Quantity


def _categorical_object(case: Case) -> Any:
    return torch.distributions.Categorical(logits=torch.tensor(case["logits"], dtype=torch.float32))


def _normal_object(case: Case) -> Any:
    mean = torch.tensor(case["mean"], dtype=torch.float32)
    return torch.distributions.Normal(mean, torch.tensor(np.exp(case["log_std"]), dtype=torch.float32))


def _cov(case: Case) -> Array:
    return np.stack([np.diag(np.exp(2.0 * row)) for row in case["log_std"]])


_LOG_STD = (
    "log_std logstd log_stds log_sigma logsigma log_scale ls action_logstd actor_logstd log_sd logstds action_log_std "
    "log_stddev log_sigmas"
)
_STD = "std stds sigma sigmas scale stddev action_std sd std_dev actor_std stdev s action_stds scales"
_DIST = "dist distribution pi action_dist policy_dist d action_distribution probs_dist prob_dist policy"
_LOG_PROBS = "log_probs logp log_prob logprobs log_pi logps logprob log_softmax log_p all_log_probs log_policy logpi"

QUANTITIES: tuple[Quantity, ...] = (
    Quantity("logits", "logits logit action_logits policy_logits preds scores pi_logits unnormalized x l z "
             "masked_logits raw_logits", "NA", meaning="logits"),
    Quantity("probs", "probs prob p pi action_probs action_prob probabilities policy pis action_probabilities "
             "policy_probs softmax_probs distribution", "NA", of=probs_of, meaning="probabilities"),
    Quantity("logp", "logp log_prob logprob log_pi action_log_probs action_log_prob sampled_log_probs "
             "log_prob_actions",
             "N", meaning="log π of the sampled actions"),
    Quantity("log_probs", _LOG_PROBS, "NA", of=lambda case: np.log(probs_of(case)),
             meaning="log of all probabilities"),
    Quantity("mask", "mask masks action_mask action_masks legal_mask legal_actions valid_actions valid_mask "
             "available_actions avail_actions legal valid allowed available", "NA", "flag",
             meaning="1 where the action is allowed"),
    Quantity("forbidden", "invalid_mask invalid_actions illegal_mask illegal_actions forbidden invalid illegal",
             "NA",
             "flag", of=lambda case: ~case["mask"], meaning="1 where the action is not allowed"),
    Quantity("mean", "mean means mu mus loc action_mean mean_actions locs", "ND", meaning="means"),
    Quantity("log_std", _LOG_STD, "ND", meaning="log σ"),
    Quantity("std", _STD, "ND", of=lambda case: np.exp(case["log_std"]), meaning="σ"),
    Quantity("var", "var variance vars variances sigma2 sigma_sq sigma_squared action_var cov_diag", "ND",
             of=lambda case: np.exp(2.0 * case["log_std"]), meaning="σ²"),
    Quantity("cov", "cov cov_mat covariance covariance_matrix cov_matrix sigma_mat", "NDD", of=_cov,
             meaning="covariance"),
    Quantity("shared_log_std", _LOG_STD, "D", of=lambda case: case["log_std"][0], reserve=True,
             meaning="log σ of all states"),
    Quantity("shared_std", _STD, "D", of=lambda case: np.exp(case["log_std"][0]), reserve=True,
             meaning="σ of all states"),
    Quantity("logp", _LOG_PROBS, "N", meaning="log π of the sampled actions"),
    Quantity("categorical", _DIST, None, "object", of=_categorical_object, meaning="a Categorical"),
    Quantity("normal", _DIST, None, "object", of=_normal_object, meaning="a Normal"),
)  # fmt: skip
