"""What oracles of the policy share: what log-probabilities and their like are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug.oracles.oracle import Array, Case, Quantity, Style

_LOGP = (
    "logp log_prob log_probs logprob logprobs log_pi logpi log_p log_pis log_policy lp pi_logp action_log_prob "
    "action_log_probs action_logprobs log_prob_action log_probs_actions log_prob_actions act_logp action_logp logp_a "
    "selected_log_probs saved_log_probs log_likelihood log_likelihoods log_pi_a log_prob_a per_token_logps logps"
)
_NEW = (
    "new_logp logp_new new_log_prob new_log_probs log_prob_new log_probs_new newlogprob newlogprobs new_logprob "
    "new_logprobs logprob_new logprobs_new newlogp new_logps current_log_probs curr_log_probs current_logp curr_logp "
    "cur_log_probs cur_log_prob pi_new_logp new_lp lp_new new_action_log_probs target_log_probs log_pi_new new_log_pi "
    "target_action_log_probs learner_log_probs logits_logp curr_action_log_probs policy_log_probs updated_log_probs"
)
_OLD = (
    "old_logp logp_old old_log_prob old_log_probs log_prob_old log_probs_old old_logprob old_logprobs logprob_old "
    "logprobs_old oldlogprob oldlogprobs old_logps old_lp lp_old old_action_log_probs old_action_log_prob "
    "old_action_logprobs old_action_logp prev_log_probs prev_log_prob prev_logp previous_log_probs previous_log_prob "
    "behavior_log_probs behaviour_log_probs behavior_logp behaviour_logp behavior_log_prob behaviour_log_prob mu_logp "
    "log_mu stored_log_probs stored_log_prob buffer_log_probs rollout_log_probs fixed_log_probs old_log_pi log_pi_old "
    "sample_log_prob sampled_log_probs sampling_log_probs log_prob_prev logp_prev old_policy_log_probs "
    "old_log_likelihood behaviour_action_log_probs behavior_action_log_probs old_per_token_logps action_log_probs_old "
    "logp_behavior logp_behaviour log_probs_behavior olp act_logp_old logprob_prev old_log_p log_p_old beh_logp"
)

LOGP = Quantity("logp", f"{_LOGP} {_NEW}", "N", meaning="log π(a|s) of the policy that is trained")
OLD_LOGP = Quantity("old_logp", _OLD, "N", meaning="log π_old(a|s), of the policy that acted")
# Beside newlogprob, plain logprobs are those of the policy that acted.
OLD_LOGP_PLAIN = Quantity("old_logp", _LOGP, "N", with_=("logp",), meaning="log π_old(a|s), of the policy that acted")

# Baselines keeps minus the logs.
_NEG = "neglogp neglogpac neg_logp neg_log_prob neg_log_probs nlp negative_log_prob negative_log_probs nll"
_OLD_NEG = (
    "old_neglogp oldneglogp oldneglogpac old_neglogpac neglogp_old neglogpac_old old_neg_log_prob old_neg_log_probs "
    "old_neg_logp neg_log_probs_old neg_logp_old old_nlp old_nll oldneglogpacs"
)
NEG_LOGP = Quantity(
    "neg_logp",
    _NEG,
    "N",
    of=lambda case: -case["logp"],
    without=("logp",),
    meaning="−log π(a|s), of the policy trained",
)
OLD_NEG_LOGP = Quantity(
    "old_neg_logp",
    _OLD_NEG,
    "N",
    of=lambda case: -case["old_logp"],
    without=("old_logp",),
    meaning="−log π_old(a|s), of the policy that acted",
)

_ADV = (
    "advantage advantages adv advs gae gaes a psi advantages_estimates adv_estimates advantage_estimates td_error "
    "td_errors deltas norm_adv normalized_advantages normalised_advantages adv_targ advs_targ adv_target "
    "weights weight "
    "delta phi"
)
ADVANTAGE = Quantity("advantage", _ADV, "N", meaning="advantage of the action")
RETURN_NAMES = (
    "returns return ret rets g gt returns_to_go return_to_go rewards_to_go reward_to_go rtg discounted_returns "
    "discounted_rewards disc_returns discounted_return value_targets targets q_values q qs qvals mc_returns r rewards "
    "reward td_target td_targets value_target rtgs q_vals q_val q_value qval td_lambda_target lambda_returns vs "
    "vtrace_returns bootstrapped_returns n_step_returns q_s q_sa q_hat"
)
MASK = Quantity(
    "mask",
    "mask masks loss_mask valid valid_mask response_mask action_mask padding_mask eos_mask is_valid completion_mask",
    "N",
    "flag",
    meaning="1 where the row counts",
)


def maximised(style: Style) -> Style:
    """The same, with the opposite sign: rightful unless the function says that it gives a loss."""
    name = "an objective, to be maximised"
    return Style(
        name if style.name == "usual" else f"{name}, {style.name}", {**style.knobs, "objective": True}, unless="loss"
    )


def reduced(rows: Any, how: str, mask: Any = None) -> Any:
    """Rows as they are, their mean or their sum, of torch or numpy; only those where the mask is set."""
    if mask is None:
        return {"none": lambda: rows, "mean": rows.mean, "sum": rows.sum}[how]()
    if how == "none":
        return rows * mask
    total = (rows * mask).sum()
    return total if how == "sum" else total / mask.sum()


def needs_mask(case: Case, bound: frozenset[str]) -> bool:
    """Fair to a function that is told what the case needs; rows that do not count need a mask."""
    return case.needs <= bound and (bool(np.all(case["mask"])) or "mask" in bound)


def normalised(values: Array, ddof: int) -> Array:
    return np.asarray((values - values.mean()) / (values.std(ddof=ddof) + 1e-8))


# ── an action and another, from the log-probability of the one ──

RAISED = {"logp": 1.5, "old_logp": 0.5}  # what the logits are above the logs
TWO_CHOICE = Quantity(
    "choice",
    "actions action act acts a taken_actions",
    "N",
    "int",
    of=lambda case: np.arange(len(case["logp"])) % 2,
    meaning="number of the action taken",
)


def two_actions(name: str) -> Callable[[Case], Array]:
    """Probabilities of two actions, the one that was taken among them."""

    def of(case: Case) -> Array:
        taken = np.exp(case[name])
        second = np.arange(len(taken)) % 2 == 1
        return np.asarray(np.where(np.stack([second, ~second], axis=-1), (1.0 - taken)[:, None], taken[:, None]))

    return of


def logits_of_two(name: str) -> Callable[[Case], Array]:
    def of(case: Case) -> Array:
        return np.asarray(np.log(two_actions(name)(case)) + RAISED[name])

    return of
