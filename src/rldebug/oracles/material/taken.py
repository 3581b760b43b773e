"""Actions that were taken, and the policy that took them: what they are called, and the Gaussian they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.oracle import Array, Case, Quantity

HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))


def gaussian(
    case: Case, of: str, centre: str, spread: str, log_std_term: float, constant: float, half: float, below: int = 2
) -> Array:
    squashed = case["kind"] == "squashed"
    value = {
        "u": case["u"],
        "action": squashed_action(case) if squashed else case["u"],
        "clipped": case["u"] if squashed else np.clip(case["u"], case["low"], case["high"]),
    }[of]
    mean = {"mean": case["mean"], "zero": 0.0, "tanh": np.tanh(case["mean"])}[centre]
    std = np.exp(case["log_std"])
    std = {"right": std, "squared": std**2, "root": np.sqrt(std), "log": case["log_std"]}[spread]
    result = -half * (value - mean) ** 2 / std**below - log_std_term * np.log(std) - constant * HALF_LOG_2PI
    return np.asarray(result)


def squashed_action(case: Case) -> Array:
    return np.asarray(case["scale"] * np.tanh(case["u"]) + case["bias"])


def _gaussian_dims(case: Case) -> Array:
    return gaussian(case, "u", "mean", "right", 1.0, 1.0, 0.5)


def _normal(case: Case) -> Any:
    mean, std = (torch.tensor(each, dtype=torch.float32) for each in (case["mean"], np.exp(case["log_std"])))
    return torch.distributions.Normal(mean, std)


def probs_of(case: Case) -> Array:
    weights = np.exp(case["logits"])
    return np.asarray(weights / weights.sum(-1, keepdims=True))


_ACTION = "action actions act acts a taken_actions action_taken value values sample"
_SCALE_NAMES = (
    "scale action_scale max_action act_limit action_limit action_bound max_act bound action_range limit act_scale"
)
_DIST = "dist distribution pi action_dist policy_dist d normal gaussian base_dist categorical"

QUANTITIES: tuple[Quantity, ...] = (
    Quantity("mean", "mean means mu mus loc action_mean mean_actions", "ND", meaning="means"),
    Quantity("log_std", "log_std logstd log_stds log_sigma logsigma log_scale ls action_logstd actor_logstd "
             "action_log_std", "ND", meaning="log σ"),
    Quantity("std", "std stds sigma sigmas stddev action_std sd std_dev actor_std scale", "ND",
             of=lambda case: np.exp(case["log_std"]), meaning="σ"),
    Quantity("var", "var variance vars variances sigma2 sigma_sq action_var", "ND",
             of=lambda case: np.exp(2.0 * case["log_std"]), meaning="σ²"),
    Quantity("normal", _DIST, None, of=_normal, meaning="a Normal"),
    Quantity("gaussian_logp", "log_prob logp log_probs gaussian_log_prob normal_log_prob log_pi logp_pi "
             "gaussian_logp logprob", "N", of=lambda case: _gaussian_dims(case).sum(-1),
             meaning="log-probability before tanh"),
    Quantity("gaussian_logps", "log_prob logp log_probs gaussian_log_prob normal_log_prob logprob", "ND",
             of=_gaussian_dims, meaning="log-probability before tanh, for each dimension"),
    Quantity("plain_action", f"{_ACTION} x", "ND", of=lambda case: case["u"], meaning="action, not squashed"),
    Quantity("u", "u pre_tanh pre_tanh_action pre_tanh_value gaussian_actions gaussian_action raw_action "
             "raw_actions "
             "x_t pretanh z unsquashed pre_squash latent_action pi_action pre_activation unbounded_action "
             "raw pre_tanh_actions untanhed x pre_action u_t", "ND", meaning="action before tanh"),
    Quantity("action", f"{_ACTION} squashed_action squashed_actions tanh_action tanh_actions y y_t "
             "tanh_squashed_action "
             "squashed tanh_x", "ND", of=squashed_action, meaning="action after tanh"),
    Quantity("u", _ACTION, "ND", meaning="action before tanh"),
    Quantity("scale", _SCALE_NAMES, None, meaning="what tanh is multiplied by"),
    Quantity("scale_dims", _SCALE_NAMES, "D", of=lambda case: np.full(case["u"].shape[1], case["scale"]),
             meaning="what tanh is multiplied by"),
    Quantity("bias", "bias action_bias offset action_offset shift", None, meaning="what is added to it"),
    Quantity("low", "low action_low min_action lo lower action_min a_min", None, with_=("high",),
             meaning="smallest action"),
    Quantity("high", "high action_high max_action hi upper action_max a_max", None, with_=("low",),
             meaning="largest action"),
    Quantity("eps", "eps epsilon tiny", None, of=lambda case: 1e-6, meaning="ε"),
    Quantity("logits", "logits logit action_logits policy_logits preds", "NA", meaning="logits"),
    Quantity("probs", "probs prob p pi action_probs probabilities policy", "NA", of=probs_of,
             meaning="probabilities"),
    Quantity("log_probs", "log_probs all_log_probs log_softmax log_pi", "NA", of=lambda case: np.log(probs_of(case)),
             meaning="log of all probabilities"),
    Quantity("categorical", _DIST, None,
             of=lambda case: torch.distributions.Categorical(logits=torch.tensor(case["logits"], dtype=torch.float32)),
             meaning="a Categorical"),
    Quantity("choice", f"{_ACTION} idx index", "N", "int", meaning="number of the action taken"),
    Quantity("mask", "mask masks action_mask action_masks legal_actions valid_actions avail_actions", "NA", "flag",
             of=lambda case: np.ones(case["logits"].shape, dtype=bool), meaning="1 where the action is allowed"),
)  # fmt: skip
