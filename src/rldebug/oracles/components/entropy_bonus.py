"""The entropy bonus: its sign and weight in the total loss of an actor-critic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.policies import ADVANTAGE, LOGP, OLD_LOGP, OLD_LOGP_PLAIN, RETURN_NAMES
from rldebug.oracles.oracle import Case, Mistake, Oracle, Output, Quantity, Style, Values, floats


def reference(case: Case) -> Values:
    entropy = 0.0
    for each in case["entropy"]:
        entropy += float(each) / len(case["entropy"])
    total = case["policy_loss"] + case["vf_coef"] * case["value_loss"] - case["ent_coef"] * entropy
    return {"loss": np.asarray(total)}


def variant(
    case: Case,
    *,
    objective: bool = False,  # style: to be maximised
    half: bool = False,  # style: half the squared error, where the function computes it itself
    plain_value: bool = False,  # style: no weight on the value loss, where the function is told none
    sign: float = -1.0,  # of the entropy
    value_sign: float = 1.0,
    policy_sign: float = 1.0,
    ent_weight: str = "ent_coef",  # ent_coef, vf_coef, one, none, both
    vf_weight: str = "vf_coef",  # vf_coef, ent_coef, one, none
    rows: str = "mean",  # mean, sum, last
    detached: tuple[str, ...] = (),
) -> Values:
    policy, value, entropy = case["policy_loss"], case["value_loss"], case["entropy"]
    if half and case.given.get("raw", False):
        value = 0.5 * value
    weight = {"vf_coef": case["vf_coef"], "ent_coef": case["ent_coef"], "one": 1.0, "none": 0.0}
    if plain_value and not case.given.get("vf_told", True):
        weight["vf_coef"] = 1.0
    weight["both"] = weight["vf_coef"] * weight["ent_coef"]
    by_row = {
        "mean": np.full(len(entropy), 1.0 / len(entropy)),
        "sum": np.ones(len(entropy)),
        "last": np.eye(len(entropy))[-1],
    }[rows]
    turned = -1.0 if objective else 1.0
    bonus, critic = turned * sign * weight[ent_weight], turned * value_sign * weight[vf_weight]
    total = turned * policy_sign * policy + critic * value + bonus * float(by_row @ entropy)
    has = {"entropy": "entropy" not in detached, "value": "value" not in detached}
    return {
        "loss": np.asarray(total),
        "grad:entropy": bonus * by_row if has["entropy"] else None,
        "grad:mean_entropy": np.asarray(bonus) if has["entropy"] else None,
        "grad:negative_entropy": np.asarray(-bonus) if has["entropy"] else None,
        "grad:value_loss": np.asarray(critic) if has["value"] else None,
        "grad:policy_loss": np.asarray(turned * policy_sign),
    }


def told(case: Case, bound: frozenset[str]) -> Case:
    """Terms that a function is not given are no part of its sum; those it computes itself come from the rows."""
    changed: dict[str, Any] = {"vf_told": "vf_coef" in bound, "raw": False}
    if "policy_loss" not in bound:
        own = "logp" in bound and ("advantage" in bound or {"value", "return"} <= bound)
        changed["policy_loss"] = _policy_loss(case, bound) if own else 0.0
    if "value_loss" not in bound:
        own = bool(bound & {"value", "return"}) and bool(bound & {"return", "advantage"})
        changed["raw"] = own
        changed["value_loss"] = float(((case["return"] - case["value"]) ** 2).mean()) if own else 0.0
    return case.but(**changed)


def _policy_loss(case: Case, bound: frozenset[str]) -> float:
    logp, advantage = case["logp"], case["advantage"]
    if "old_logp" not in bound:
        return float(-(logp * advantage).mean())
    ratio = np.exp(logp - case["old_logp"])
    clipped = np.clip(ratio, 1.0 - case["clip"], 1.0 + case["clip"])
    return float(-np.minimum(ratio * advantage, clipped * advantage).mean())


def _case(
    name: str, policy: float, value: float, entropy: Any, *, ent_coef: float = 0.25, vf_coef: float = 0.5
) -> Case:
    entropies = floats(entropy)
    rows = len(entropies)
    old = -np.resize([1.0, 2.0, 0.5, 1.5], rows)
    values = 1.0 + 0.5 * np.arange(rows)
    return Case(
        name,
        {
            "policy_loss": policy,
            "value_loss": value,
            "entropy": entropies,
            "ent_coef": ent_coef,
            "vf_coef": vf_coef,
            "logp": old + np.resize([0.5, -0.5, 0.125], rows),
            "old_logp": old,
            "advantage": np.resize([2.0, -1.0, 3.0, -4.0], rows),
            "value": values,
            "return": values + np.resize([2.0, -1.0, 3.0, -4.0], rows),
            "clip": 0.2,
        },
    )


def cases() -> list[Case]:
    return [
        _case("one row", 1.0, 4.0, [2.0]),
        _case("two rows", 1.0, 4.0, [2.0, 1.0]),
        _case("two rows, a negative policy loss", -3.0, 2.0, [0.5, 1.5]),
        _case("four rows", 0.5, 6.0, [1.0, 2.0, 0.25, 3.0]),
        _case("three rows, other weights", 2.0, 3.0, [1.0, 2.0, 4.0], ent_coef=0.5, vf_coef=2.0),
        _case("three rows, a weight of 0", 2.0, 3.0, [1.0, 2.0, 4.0], ent_coef=0.0),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    halves = st.integers(-8, 8).map(lambda n: n / 2)
    entropy = st.lists(st.integers(1, 8).map(lambda n: n / 4), min_size=1, max_size=4)
    coef = st.sampled_from([0.25, 0.5, 1.0, 0.125])
    return _case(
        "drawn at random", draw(halves), abs(draw(halves)), draw(entropy), ent_coef=draw(coef), vf_coef=draw(coef)
    )


def _number(name: str, sign: float = 1.0) -> Callable[[Case], Any]:
    return lambda case: torch.tensor(sign * float(np.mean(case[name])), dtype=torch.float32)


_ENT = (
    "entropy ent entropies dist_entropy policy_entropy h entropy_bonus ent_bonus mean_entropy entropy_mean avg_entropy "
    "pi_entropy entropy_term action_entropy"
)
_ENT_LOSS = "entropy_loss ent_loss loss_entropy loss_ent neg_entropy negative_entropy entropy_penalty"

ENTROPY_BONUS = Oracle(
    name="entropy-bonus",
    aliases="total-loss actor-critic-loss combined-loss ppo-total-loss a2c-total-loss entropy-term",
    code="ENT120",
    summary="The total loss of an actor-critic: the entropy is subtracted, times its weight.",
    formula="L = L_policy + c_v L_value − c_e mean(H)",
    example="def total_loss(policy_loss, value_loss, entropy, vf_coef, ent_coef)",
    references="Mnih and others, *Asynchronous methods for deep reinforcement learning*.",
    quantities=(
        Quantity("policy_loss", "policy_loss pg_loss actor_loss pi_loss loss_pi action_loss ppo_loss loss_policy "
                 "surrogate_loss loss_actor loss_clip clip_loss policy_gradient_loss p_loss a_loss l_clip l_pi "
                 "l_policy "
                 "loss pg objective_loss surrogate surr_loss", None, "object", of=_number("policy_loss"),
                 meaning="loss of the policy"),
        Quantity("value_loss", "value_loss v_loss vf_loss critic_loss loss_v loss_vf loss_value baseline_loss c_loss "
                 "value_function_loss loss_critic l_vf l_v l_value vloss v_f_loss", None, "object",
                 of=_number("value_loss"), meaning="loss of the critic"),
        Quantity("entropy", _ENT, "N", meaning="entropy of each row"),
        Quantity("negative_entropy", _ENT_LOSS, None, "object", of=_number("entropy", -1.0),
                 meaning="minus the mean entropy"),
        Quantity("mean_entropy", _ENT_LOSS, None, "object", of=_number("entropy"), meaning="mean entropy"),
        Quantity("mean_entropy", _ENT, None, "object", of=_number("entropy"), reserve=True, meaning="mean entropy"),
        Quantity("ent_coef", "ent_coef entropy_coef ent_coeff entropy_coeff beta entropy_weight c2 ent_weight "
                 "entropy_beta alpha entropy_cost entropy_reg coef_ent entropy_coefficient ent_coefficient c_e c_ent "
                 "entropy_scale coef coeff entropy_loss_coef entropy_factor ce weight entropy_c w_ent "
                 "lambda_ent", meaning="weight of the entropy"),
        Quantity("vf_coef", "vf_coef value_coef value_loss_coef vf_coeff value_coeff c1 critic_coef v_coef "
                 "value_weight "
                 "baseline_cost critic_weight vf_weight value_loss_weight vf_loss_coeff c_v c_vf value_coefficient "
                 "vf_loss_coef critic_coeff value_function_coef value_loss_coeff cv value_scale "
                 "w_v", meaning="weight of the value loss"),
        LOGP,
        OLD_LOGP,
        OLD_LOGP_PLAIN,
        ADVANTAGE,
        Quantity("value", "values value v state_values vals value_preds vpred newvalue new_values", "N",
                 meaning="V(s)"),
        Quantity("return", RETURN_NAMES, "N", meaning="returns"),
        Quantity("clip", "clip clip_range clip_eps clip_coef clip_ratio epsilon eps clip_param cliprange eps_clip "
                 "clip_epsilon", None, "object", meaning="ε"),
    ),
    outputs=(Output("loss", "loss total_loss total objective entropy_bonus entropy_loss", ""),),
    required=("entropy|mean_entropy|negative_entropy",),
    gradients=("entropy", "mean_entropy", "negative_entropy", "policy_loss", "value_loss"),
    columns=("policy_loss", "value_loss", "entropy"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    layouts=("(N,)", "(N, 1)"),
    styles=(
        Style("usual"),
        Style("value loss without a weight", {"plain_value": True}),
        Style("half the squared error", {"half": True}),
        Style("half the squared error, without a weight", {"half": True, "plain_value": True}),
        Style("an objective, to be maximised", {"objective": True}, unless="loss"),
    ),
    mistakes=(
        Mistake(
            "ENT121", "entropy-bonus-sign-flipped", "The entropy is added to the loss.",
            knobs={"sign": 1.0},
            wrong="loss = pg_loss + vf_coef * v_loss + ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The policy is paid for being certain: it collapses onto one action early.",
            fix="subtract the entropy from the loss",
            fine="Where what is handed over is minus the entropy: call it entropy_loss then.",
            seen_in="MrSyee/pg-is-all-you-need#37",
        ),
        Mistake(
            "ENT122", "entropy-bonus-weight-missing", "The entropy has no weight.",
            knobs={"ent_weight": "one"},
            wrong="loss = pg_loss + vf_coef * v_loss - entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The bonus outweighs the policy loss: the policy stays random.",
            fix="multiply the entropy by its weight",
        ),
        Mistake(
            "ENT123", "entropy-bonus-value-weight-missing", "The value loss has no weight, though one is given.",
            knobs={"vf_weight": "one"},
            wrong="loss = pg_loss + v_loss - ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="In a shared network the critic's gradient weighs more than it was told to.",
            fix="multiply the value loss by its weight",
        ),
        Mistake(
            "ENT124", "entropy-bonus-weights-swapped", "The weights of entropy and value loss are swapped.",
            knobs={"ent_weight": "vf_coef", "vf_weight": "ent_coef"},
            wrong="loss = pg_loss + ent_coef * v_loss - vf_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The policy stays random, and the critic hardly learns.",
            fix="swap the two weights",
        ),
        Mistake(
            "ENT125", "entropy-bonus-left-out", "The entropy is taken but is no part of the loss.",
            knobs={"ent_weight": "none"},
            wrong="loss = pg_loss + vf_coef * v_loss",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The weight of the entropy has no effect.",
            fix="subtract the entropy, times its weight",
        ),
        Mistake(
            "ENT126", "entropy-bonus-value-loss-left-out", "The value loss is taken but is no part of the loss.",
            knobs={"vf_weight": "none"},
            wrong="loss = pg_loss - ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The critic is not trained by this loss.",
            fix="add the value loss, times its weight",
            fine="Where the critic has an optimizer of its own.",
        ),
        Mistake(
            "ENT127", "entropy-bonus-value-loss-subtracted", "The value loss is subtracted.",
            knobs={"value_sign": -1.0},
            wrong="loss = pg_loss - vf_coef * v_loss - ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The critic is trained to be as wrong as it can: the loss falls without end.",
            fix="add the value loss",
        ),
        Mistake(
            "ENT128", "entropy-bonus-policy-loss-subtracted", "The policy loss is subtracted.",
            knobs={"policy_sign": -1.0},
            wrong="loss = -pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="Good actions are made less likely.",
            fix="add the policy loss as it is: it has its minus already",
            fine="Where what is handed over is an objective to be maximised.",
        ),
        Mistake(
            "ENT129", "entropy-bonus-summed-over-batch", "The entropy is summed over the batch, not averaged.",
            knobs={"rows": "sum"},
            wrong="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.sum()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The weight of the bonus grows with the size of the batch.",
            fix="take the mean over the batch",
            fine="Where the other losses are sums as well.",
        ),
        Mistake(
            "ENT130", "entropy-bonus-of-last-row", "Only the entropy of the last row is used.",
            knobs={"rows": "last"},
            wrong="for t in range(T): entropy = dist[t].entropy()\nloss = pg_loss - ent_coef * entropy",
            right="loss = pg_loss - ent_coef * torch.stack(entropies).mean()",
            harm="The bonus depends on one step alone, and so does its gradient.",
            fix="keep the entropy of every step and take the mean",
            seen_in="Farama-Foundation/Gymnasium#1524",
        ),
        Mistake(
            "ENT131", "entropy-bonus-without-gradient", "No gradient reaches the entropy.",
            knobs={"detached": ("entropy",)},
            wrong="loss = pg_loss - ent_coef * entropy.mean().item()",
            right="loss = pg_loss - ent_coef * entropy.mean()",
            harm="The bonus changes the number that is logged, and nothing else.",
            fix="leave the entropy in the graph",
        ),
        Mistake(
            "ENT132", "entropy-bonus-value-loss-without-gradient", "No gradient reaches the value loss.",
            knobs={"detached": ("value",)},
            wrong="loss = pg_loss + vf_coef * v_loss.item() - ent_coef * entropy.mean()",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The critic is not trained by this loss.",
            fix="leave the value loss in the graph",
        ),
        Mistake(
            "ENT133", "entropy-bonus-in-value-bracket", "The weight of the value loss multiplies the entropy too.",
            knobs={"ent_weight": "both"},
            wrong="loss = pg_loss + vf_coef * (v_loss - ent_coef * entropy.mean())",
            right="loss = pg_loss + vf_coef * v_loss - ent_coef * entropy.mean()",
            harm="The bonus is smaller than it was told to be.",
            fix="take the entropy out of the bracket",
        ),
    ),
)  # fmt: skip
