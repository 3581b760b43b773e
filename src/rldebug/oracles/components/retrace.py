"""Retrace(λ): action values of a policy, from what another one did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rldebug.oracles.material import steps
from rldebug.oracles.material.retrace_mistakes import MISTAKES
from rldebug.oracles.material.steps import (
    FLAGS,
    GAMMA_NAME,
    LAM_NAME,
    REWARD,
    VALUES,
    draw_steps,
    flags_of,
    ladder,
    led_to,
)
from rldebug.oracles.material.two_policies import RATIO, logp_drawn, logps, policies
from rldebug.oracles.oracle import Array, Case, Oracle, Output, Quantity, Values


def reference(case: Case) -> Values:
    gamma = case["gamma"]
    length, envs = case["reward"].shape
    ratio = np.exp(case["target_logp"] - case["behaviour_logp"])
    target = np.zeros((length, envs))
    for b in range(envs):
        for t in range(length):
            target[t, b] = case["q"][t, b]
            weight = 1.0
            for k in range(t, length):  # every δ from here to the end, weighed by the traces after this step
                if k > t:
                    weight *= gamma * case["lam"] * min(case["c_bar"], ratio[k, b])
                worth = 0.0 if case["terminated"][k, b] else case["next_value"][k, b]
                target[t, b] += weight * (case["reward"][k, b] + gamma * worth - case["q"][k, b])
                if case["done"][k, b]:
                    break
    return {"target": target, "error": target - case["q"]}


def variant(
    case: Case,
    *,
    ratio: str = "usual",  # or inverted, log, ignored
    clip: str = "above",  # or below, not
    lam_power: int = 1,
    trace_of: str = "next",  # or same: whose ratio weighs the correction of the next step
    subtracted: str = "q",  # what the correction is measured from: q, value, nothing
    corrected: bool = True,
    mask: str = "terminated",  # what stops the bootstrap
    cut: str = "done",  # what stops the correction
    shift: int = 0,
    beyond: float | str = 0.0,
    bootstrap: str = "next",  # see led_to; or taken: Q of the action that was taken
    gamma_value: int = 1,
    gamma_sum: int = 1,
    sign: float = 1.0,
) -> Values:
    gamma, log_ratio, q = case["gamma"], case["target_logp"] - case["behaviour_logp"], case["q"]
    weight = {
        "usual": np.exp(log_ratio), "inverted": np.exp(-log_ratio), "log": log_ratio, "ignored": np.ones_like(log_ratio)
    }[ratio]  # fmt: skip
    if clip != "not":
        weight = np.minimum(weight, case["c_bar"]) if clip == "above" else np.maximum(weight, case["c_bar"])
    trace = case["lam"] ** lam_power * weight
    flag = flags_of(case, shift, beyond)
    if bootstrap == "taken":
        worth = np.concatenate([q[1:], case["next_value"][-1:]])
    else:
        worth = led_to(case, bootstrap)
    below = {"q": q, "value": case["value"], "nothing": np.zeros_like(q)}[subtracted]
    target = case["reward"] + gamma**gamma_value * (1.0 - flag[mask]) * worth
    for t in reversed(range(len(q) - 1)):
        weighed = trace[t if trace_of == "same" else t + 1] * (target[t + 1] - below[t + 1])
        if corrected:
            target[t] = target[t] + sign * gamma**gamma_sum * (1.0 - flag[cut][t]) * weighed
    return {"target": target, "error": target - q}


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _q(length: int, envs: int) -> Array:
    return np.asarray(2.0 + 1.5 * np.arange(length)[:, None] - np.arange(envs))


def cases() -> list[Case]:
    rungs = ladder(**policies(), q=_q, c_bar=1.0)
    return [*rungs, *(case.but(lam=1.0) for case in rungs[5:7]), *(case.but(c_bar=1.5) for case in rungs[5:6])]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    def q(length: int, envs: int) -> Array:
        return np.asarray(draw(arrays.arrays(np.int64, (length, envs), elements=st.integers(-4, 4))), dtype=np.float64)

    logp = logp_drawn(draw)
    return draw_steps(draw, **policies(target_logp=logp, behaviour_logp=logp), q=q, c_bar=1.0)


def told(case: Case, bound: frozenset[str]) -> Case:
    """What is not handed over: the ratio is clipped at 1, and λ is 1."""
    case = steps.told(case, bound if not bound & _ALL else bound | {"value_and_last"})
    return case.but(
        c_bar=case["c_bar"] if "c_bar" in bound else 1.0,
        lam=case["lam"] if "lam" in bound else 1.0,
    )


def fair(case: Case, bound: frozenset[str]) -> bool:
    return steps.fair(case, bound | {"value_and_last"} if bound & _ALL else bound)


def remarks(bound: frozenset[str]) -> list[str]:
    return steps.remarks(bound | {"value_and_last"} if bound & _ALL else bound)


def rebuild(given: Mapping[str, Any]) -> Case:
    return steps.rebuild({"lam": 1.0, "c_bar": 1.0, **given}).but(q=given["q"], **logps(given))


_ALL = frozenset({"q_all"})


def _pi_all(case: Case) -> Array:
    """π of two actions, for T+1 observations: the one taken has its probability."""
    taken = np.exp(case["target_logp"])
    return np.concatenate([_by_action(case, taken, 1.0 - taken), np.full((1, taken.shape[1], 2), 0.5)])


def _q_all(case: Case) -> Array:
    """Q of two actions, for T+1 observations, so that Σ π Q is V and that of the one taken is Q(s, a)."""
    taken = np.exp(case["target_logp"])
    other = (case["value"] - taken * case["q"]) / (1.0 - taken)
    last = np.asarray(case["last_value"])
    return np.concatenate([_by_action(case, case["q"], other), np.stack([last - 1.0, last + 1.0], axis=-1)[None]])


def _by_action(case: Case, taken: Array, other: Array) -> Array:
    both = np.stack([taken, other], axis=-1)
    return np.asarray(np.where(case["action"][..., None] == 0, both, both[..., ::-1]))


_VALUES = tuple(
    replace(each, names=each.names + extra)
    for each in VALUES
    for extra in [{"next_value": " v_t expected_next_q next_expected_q expected_q_next exp_q_next next_v_pi ev_next",
                   "value": " expected_q expected_q_values exp_q expected_target_q v_pi ev expected_values",
                   "value_and_last": " expected_q expected_q_values exp_q expected_target_q v_pi ev expected_values",
                   }.get(each.name, "")]
)  # fmt: skip

RETRACE = Oracle(
    name="retrace",
    aliases="retrace-lambda q-retrace retrace-target",
    code="DIS180",
    summary="Retrace(λ): off-policy targets for action values, corrected as far as the clipped ratios allow.",
    formula="y_t = r_t + γ (1 − terminated_t) V(s_{t+1}) + γ (1 − done_t) c_{t+1} (y_{t+1} − Q(s_{t+1}, a_{t+1})),  "
    "c = λ min(1, π/μ)",
    example="def retrace(rewards, q, next_values, dones, ratio, gamma, lam)",
    references="Munos and others, *Safe and efficient off-policy reinforcement learning*.",
    quantities=(
        REWARD,
        Quantity("q", "q qs q_value q_values q_sa q_a q_i q_taken q_tm1 qvals q_pred state_action_values q_s_a "
                 "target_q action_values q_taken_actions q_target chosen_q", "TB", meaning="Q(s_t, a_t)"),
        *_VALUES, *FLAGS, *RATIO,
        Quantity("q_later", "q_t next_q q_next next_q_values q_tp1 next_qs", "SB", of=lambda case: case["q"][1:],
                 meaning="Q(s_{t+1}, a_{t+1}), for all but the last step"),
        Quantity("next_q", "q_t next_q q_next next_q_values q_tp1 next_qs", "TB",
                 of=lambda case: np.concatenate([case["q"][1:], np.asarray(case["last_value"])[None] + 1.0]),
                 meaning="Q(s_{t+1}, a_{t+1})"),
        Quantity("log_ratio", "log_rhos", "SB", of=lambda case: (case["target_logp"] - case["behaviour_logp"])[1:],
                 with_=("q_later",), meaning="log π − log μ, from the second step on"),
        Quantity("q_all", "q qs q_values q_all q_table all_q qvals action_values", "UBA", of=_q_all, with_=("action",),
                 meaning="Q(s, ·) of T+1 observations"),
        Quantity("pi_all", "pi pis policy_probs probs pi_probs target_probs target_policy action_probs", "UBA",
                 of=_pi_all, with_=("q_all",), meaning="π(· | s) of T+1 observations"),
        Quantity("action", "action actions act acts a a_t", "TB", "int", meaning="which action was taken"),
        Quantity("c_bar", "c_bar c_clip clip_c clip max_c c_max rho_bar rho_clip clip_rho max_ratio truncation",
                 meaning="what the ratio is clipped at"),
        GAMMA_NAME, LAM_NAME,
    ),
    outputs=(
        Output("target", "target targets q_ret q_rets qret qrets retrace retrace_target "
               "retrace_targets return returns", "TB"),
        Output("error", "error errors td_error td_errors delta deltas", "TB"),
    ),
    required=("reward", "q|q_all", "log_ratio|ratio|target_logp|target_prob|pi_all"),
    columns=("reward", "q", "next_value", "terminated", "truncated", "target_logp", "behaviour_logp"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=rebuild,
    mistakes=MISTAKES,
)  # fmt: skip
