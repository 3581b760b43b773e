"""Two policies side by side, the old and the new: what their parameters are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.policies import LOGP, NEG_LOGP, OLD_LOGP, OLD_LOGP_PLAIN, OLD_NEG_LOGP
from rldebug.oracles.oracle import Array, Case, Quantity


def _probs(name: str) -> Any:
    def of(case: Case) -> Array:
        weights = np.exp(case[name])
        return np.asarray(weights / weights.sum(-1, keepdims=True))

    return of


def _logs(name: str) -> Any:
    return lambda case: np.log(_probs(name)(case))


def _exp(name: str, power: float = 1.0) -> Any:
    return lambda case: np.exp(power * case[name])


def _dist(kind: str, old: str) -> Any:
    def of(case: Case) -> Any:
        def tensor(name: str) -> torch.Tensor:
            return torch.tensor(case[f"{old}{name}"], dtype=torch.float32)

        if kind == "categorical":
            return torch.distributions.Categorical(logits=tensor("logits"))
        return torch.distributions.Normal(tensor("mean"), tensor("log_std").exp())

    return of


@dataclass(frozen=True)
class Held:
    """As in Stable-Baselines3: the distribution of torch is an attribute."""

    distribution: Any


def _held(old: str) -> Any:
    return lambda case: Held(_dist("categorical", old)(case))


def _both(base: str, *, new: str = "", old: str = "") -> tuple[str, str]:
    """Names for the new and the old of something: new_x x_new x …, old_x x_old …"""
    words = base.split()
    for_new = [
        form
        for w in words
        for form in (
            w,
            f"new_{w}",
            f"{w}_new",
            f"q_{w}",
            f"{w}_q",
            f"{w}2",
            f"{w}_2",
            f"{w}1",
            f"{w}_1",
            f"curr_{w}",
            f"current_{w}",
            f"{w}_b",
            f"target_{w}",
        )
    ]
    for_old = [
        form
        for w in words
        for form in (
            f"old_{w}",
            f"{w}_old",
            f"p_{w}",
            f"{w}_p",
            f"{w}1",
            f"{w}_1",
            f"{w}0",
            f"{w}_0",
            f"prev_{w}",
            f"{w}_prev",
            f"previous_{w}",
            f"{w}_a",
            f"behavior_{w}",
            f"behaviour_{w}",
        )
    ]
    return f"{' '.join(for_new)} {new}", f"{' '.join(for_old)} {old}"


_LOGITS = _both("logits logit action_logits policy_logits")
_PROBS = _both("probs prob pi probabilities action_probs policy", new="q", old="p")
_ALL_LOGS = _both("log_probs logp log_prob logprobs log_pi logps")
_MEAN = _both("mean mu means mus loc action_mean", new="mu_q", old="mu_p")
_LOG_STD = _both("log_std logstd log_sigma log_stds")
_STD = _both("std sigma stds scale sd stddev action_std")
_VAR = _both("var variance sigma2 vars")
_DIST = _both("dist distribution pi d policy policy_dist action_dist", new="q dist_pred", old="p dist_true")
_REF = (
    "ref_logp ref_log_probs ref_log_prob ref_logprob ref_logprobs reference_logp reference_log_probs log_probs_ref "
    "logp_ref logprobs_ref log_prob_ref ref_logps ref_per_token_logps base_log_probs log_probs_base sft_log_probs"
)

QUANTITIES: tuple[Quantity, ...] = (
    Quantity("logp", LOGP.names, "N", meaning=LOGP.meaning),
    OLD_LOGP,
    OLD_LOGP_PLAIN,
    NEG_LOGP,
    OLD_NEG_LOGP,
    Quantity("ref_logp", _REF, "N", meaning="log π_ref(a|s), of the reference policy"),
    Quantity("log_ratio", "log_ratio logratio log_ratios logratios log_r", "N",
             of=lambda case: case["logp"] - case["old_logp"], without=("logp",), meaning="log π − log π_old"),
    Quantity("logits", _LOGITS[0], "NA", meaning="logits of the new policy"),
    Quantity("old_logits", _LOGITS[1], "NA", meaning="logits of the old policy"),
    Quantity("probs", _PROBS[0], "NA", of=_probs("logits"), meaning="probabilities of the new policy"),
    Quantity("old_probs", _PROBS[1], "NA", of=_probs("old_logits"), meaning="probabilities of the old policy"),
    Quantity("log_probs", _ALL_LOGS[0], "NA", of=_logs("logits"), with_=("old_log_probs",),
             meaning="log of all probabilities of the new policy"),
    Quantity("old_log_probs", _ALL_LOGS[1], "NA", of=_logs("old_logits"), with_=("log_probs",),
             meaning="log of all probabilities of the old policy"),
    Quantity("mean", _MEAN[0], "ND", with_=("old_mean",), meaning="means of the new policy"),
    Quantity("old_mean", _MEAN[1], "ND", with_=("mean",), meaning="means of the old policy"),
    Quantity("log_std", _LOG_STD[0], "ND", with_=("old_mean",), meaning="log σ of the new policy"),
    Quantity("old_log_std", _LOG_STD[1], "ND", with_=("old_mean",), meaning="log σ of the old policy"),
    Quantity("std", _STD[0], "ND", of=_exp("log_std"), with_=("old_mean",), meaning="σ of the new policy"),
    Quantity("old_std", _STD[1], "ND", of=_exp("old_log_std"), with_=("old_mean",), meaning="σ of the old policy"),
    Quantity("var", _VAR[0], "ND", of=_exp("log_std", 2.0), with_=("old_mean",), meaning="σ² of the new policy"),
    Quantity("old_var", _VAR[1], "ND", of=_exp("old_log_std", 2.0), with_=("old_mean",),
             meaning="σ² of the old policy"),
    Quantity("categorical", _DIST[0], None, of=_dist("categorical", ""), with_=("old_categorical",),
             meaning="a Categorical, the new policy"),
    Quantity("old_categorical", _DIST[1], None, of=_dist("categorical", "old_"), with_=("categorical",),
             meaning="a Categorical, the old policy"),
    Quantity("normal", _DIST[0], None, of=_dist("normal", ""), with_=("old_normal",),
             meaning="a Normal, the new policy"),
    Quantity("old_normal", _DIST[1], None, of=_dist("normal", "old_"), with_=("normal",),
             meaning="a Normal, the old policy"),
    Quantity("held", _DIST[0], None, of=_held(""), with_=("old_held",),
             meaning="what holds a Categorical, the new policy"),
    Quantity("old_held", _DIST[1], None, of=_held("old_"), with_=("held",),
             meaning="what holds a Categorical, the old policy"),
)  # fmt: skip
