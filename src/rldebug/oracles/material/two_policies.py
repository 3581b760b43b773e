"""What off-policy oracles share: the probabilities of a policy that acted and of one that learns, and their ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.oracles.oracle import Array, Quantity

_TARGET = np.array([0.6, 0.3, 0.8, 0.45, 0.5, 0.9])
_BEHAVIOUR = np.array([0.3, 0.6, 0.5, 0.6, 0.25, 0.6])  # ratios 2, ½, 1.6, ¾, 2, 1½


def _logp(probabilities: Array) -> Callable[[int, int], Array]:
    def made(length: int, envs: int) -> Array:
        each = np.arange(length)[:, None] + 2 * np.arange(envs)
        return np.asarray(np.log(probabilities[each % len(probabilities)]))

    return made


def policies(**given: Any) -> dict[str, Any]:
    """For `ladder`: what two policies make of the actions taken."""

    def action(length: int, envs: int) -> Array:
        return np.asarray((np.arange(length)[:, None] + np.arange(envs)) % 2)

    return {"target_logp": _logp(_TARGET), "behaviour_logp": _logp(_BEHAVIOUR), "action": action, **given}


def logp_drawn(draw: Any) -> Callable[[int, int], Array]:
    from hypothesis import strategies as st

    def made(length: int, envs: int) -> Array:
        count = length * envs
        picked = draw(st.lists(st.sampled_from([0.2, 0.4, 0.5, 0.8]), min_size=count, max_size=count))
        return np.log(np.reshape(picked, (length, envs)))

    return made


def logps(given: Mapping[str, Any]) -> dict[str, Array]:
    """log π and log μ from whichever of logarithms, probabilities and ratio were given."""
    logs = {f"{who}_logp": np.log(given[f"{who}_prob"]) for who in ("target", "behaviour") if f"{who}_prob" in given}
    logs |= {name: given[name] for name in ("target_logp", "behaviour_logp") if name in given}
    behaviour = logs.get("behaviour_logp", np.zeros_like(given["reward"]))
    log_ratio = given.get("log_ratio", np.log(given["ratio"]) if "ratio" in given else np.zeros_like(behaviour))
    return {"behaviour_logp": behaviour, "target_logp": logs.get("target_logp", behaviour + log_ratio)}


RATIO = (
    Quantity("target_logp", "target_logp target_log_prob target_log_probs target_logprobs target_action_log_probs "
             "log_pi log_pis pi_logp pi_log_prob new_logp new_log_prob new_log_probs new_logprobs newlogprob logp "
             "log_prob log_probs logprobs learner_logp learner_log_probs curr_log_probs current_logp logp_pi logp_new "
             "learner_action_log_probs action_log_probs target_policy_log_probs", "TB",
             meaning="log π of the action, of the policy that learns"),
    Quantity("behaviour_logp", "behaviour_logp behavior_logp behaviour_log_prob behavior_log_prob behaviour_log_probs "
             "behavior_log_probs behaviour_logprobs behaviour_action_log_probs behavior_action_log_probs log_mu "
             "log_mus mu_logp mu_log_prob old_logp old_log_prob old_log_probs old_logprobs oldlogprob logp_old logp_mu "
             "actor_logp actor_log_probs logp_behaviour logp_behavior mu_log_probs behaviour_policy_log_probs "
             "behavior_policy_log_probs actor_action_log_probs", "TB",
             meaning="log μ of the action, of the policy that acted"),
    Quantity("log_ratio", "log_rho log_rhos log_ratio log_ratios logratio log_is log_importance_weights log_is_weights",
             "TB", of=lambda case: case["target_logp"] - case["behaviour_logp"], meaning="log π − log μ"),
    Quantity("ratio", "rho rhos ratio ratios is_ratio is_ratios importance_weight importance_weights is_weights iw iws "
             "importance_ratio importance_ratios rho_t is_w w importance_sampling_ratio rho_i imp_weights", "TB",
             of=lambda case: np.exp(case["target_logp"] - case["behaviour_logp"]), meaning="π / μ"),
    Quantity("target_prob", "pi pis target_prob target_probs pi_prob pi_a new_probs target_policy_probs", "TB",
             of=lambda case: np.exp(case["target_logp"]), meaning="π of the action"),
    Quantity("behaviour_prob", "mu mus behaviour_prob behavior_prob behaviour_probs behavior_probs mu_prob mu_a "
             "old_probs behaviour_policy_probs", "TB",
             of=lambda case: np.exp(case["behaviour_logp"]), meaning="μ of the action"),
)  # fmt: skip
