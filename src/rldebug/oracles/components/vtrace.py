"""V-trace: values and advantages of a policy, from what another one did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material import steps
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
from rldebug.oracles.material.vtrace_mistakes import MISTAKES
from rldebug.oracles.oracle import Array, Case, Oracle, Output, Quantity, Style, Values


def reference(case: Case) -> Values:
    gamma = case["gamma"]
    length, envs = case["reward"].shape
    ratio = np.exp(case["target_logp"] - case["behaviour_logp"])
    target, advantage = np.zeros((length, envs)), np.zeros((length, envs))
    for b in range(envs):
        for t in range(length):
            target[t, b] = case["value"][t, b]
            weight = 1.0
            for k in range(t, length):  # every δ from here to the end, weighed by the traces before it
                worth = 0.0 if case["terminated"][k, b] else case["next_value"][k, b]
                delta = case["reward"][k, b] + gamma * worth - case["value"][k, b]
                target[t, b] += weight * min(case["rho_bar"], ratio[k, b]) * delta
                weight *= gamma * case["lam"] * min(case["c_bar"], ratio[k, b])
                if case["done"][k, b]:
                    break
    for b in range(envs):
        for t in range(length):
            worth = case["next_value"][t, b] if case["done"][t, b] or t == length - 1 else target[t + 1, b]
            worth = 0.0 if case["terminated"][t, b] else worth
            gain = case["reward"][t, b] + gamma * worth - case["value"][t, b]
            advantage[t, b] = min(case["pg_rho_bar"], ratio[t, b]) * gain
    return {"vs": target, "advantage": advantage}


_CLIP: dict[str, Callable[[Array, float], Array]] = {
    "above": lambda ratio, bar: np.asarray(np.minimum(ratio, bar)),
    "below": lambda ratio, bar: np.asarray(np.maximum(ratio, bar)),
    "not": lambda ratio, bar: ratio,
}


def variant(
    case: Case,
    *,
    ratio: str = "usual",  # or inverted, log, ignored
    clip_rho: str = "above",  # or below, not
    clip_c: str = "above",
    clip_pg: str = "above",
    bars: str = "usual",  # or swapped
    c_told: bool = True,  # where no c̄ is handed over: it is 1, else it is ρ̄
    rho_in_delta: str = "rho",  # or c, nothing
    c_in_sum: str = "c",  # or rho, nothing
    lam_in_sum: int = 1,
    mask: str = "terminated",  # what stops the bootstrap
    cut: str = "done",  # what stops the sum
    shift: int = 0,
    beyond: float | str = 0.0,
    bootstrap: str = "next",  # see led_to
    gamma_in_delta: int = 1,
    gamma_in_sum: int = 1,
    value_added: bool = True,
    advantage_from: str = "vs",  # what the step led to: vs, value, mixed, across (vs of another episode)
    advantage_less: str = "value",  # or vs, nothing
    rho_in_advantage: str = "rho",  # or nothing
) -> Values:
    gamma, log_ratio = case["gamma"], case["target_logp"] - case["behaviour_logp"]
    weight = {
        "usual": np.exp(log_ratio), "inverted": np.exp(-log_ratio), "log": log_ratio, "ignored": np.ones_like(log_ratio)
    }[ratio]  # fmt: skip
    rho_bar, c_bar = case["rho_bar"], case["c_bar"]
    if not c_told and not case.given.get("has_c_bar", True):
        c_bar = rho_bar
    if bars == "swapped":
        rho_bar, c_bar = c_bar, rho_bar
    rho = _CLIP[clip_rho](weight, rho_bar)
    trace = _CLIP[clip_c](weight, c_bar)
    used = {"rho": rho, "c": trace, "nothing": np.ones_like(rho)}
    flag = flags_of(case, shift, beyond)
    worth = led_to(case, bootstrap)
    delta = case["reward"] + gamma**gamma_in_delta * (1.0 - flag[mask]) * worth - case["value"]
    delta = used[rho_in_delta] * delta
    carried = gamma**gamma_in_sum * case["lam"] ** lam_in_sum * used[c_in_sum] * (1.0 - flag[cut])
    above, following = np.zeros_like(delta), np.zeros_like(delta[0])
    for t in reversed(range(len(delta))):
        following = delta[t] + carried[t] * following
        above[t] = following
    vs = above + case["value"] if value_added else above
    next_vs = np.concatenate([vs[1:], worth[-1:]])
    if advantage_from != "across":  # where an episode ends, the next row is of another one
        next_vs = np.where(flag[cut] > 0.0, worth, next_vs)
    if advantage_from == "value":
        next_vs = worth
    elif advantage_from == "mixed":
        last = np.zeros(len(vs), dtype=bool)
        last[-1] = True
        mixed = case["lam"] * next_vs + (1.0 - case["lam"]) * worth
        next_vs = np.where(last[:, None], worth, mixed)
    less = {"value": case["value"], "vs": vs, "nothing": 0.0}[advantage_less]
    pg_rho = _CLIP[clip_pg](weight, case["pg_rho_bar"]) if rho_in_advantage == "rho" else 1.0
    gain = case["reward"] + gamma**gamma_in_delta * (1.0 - flag[mask]) * next_vs - less
    return {"vs": vs, "advantage": pg_rho * gain}


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_BARS = {"rho_bar": 1.5, "c_bar": 1.25, "pg_rho_bar": 1.75, "lam": 1.0}


def cases() -> list[Case]:
    rungs = ladder(**policies(**_BARS))
    return [
        *rungs,
        *(case.but(lam=0.8) for case in rungs[5:7]),
        *(case.but(rho_bar=1.0, c_bar=1.0, pg_rho_bar=1.0) for case in rungs[5:6]),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    bars = {name: draw(st.sampled_from([1.0, 1.25, 1.5])) for name in ("rho_bar", "c_bar", "pg_rho_bar")}
    logp = logp_drawn(draw)
    return draw_steps(draw, **policies(target_logp=logp, behaviour_logp=logp, **bars))


def told(case: Case, bound: frozenset[str]) -> Case:
    """What is not handed over has the value of the paper: ρ̄ = c̄ = 1, and λ = 1."""
    case = steps.told(case, bound)
    rho_bar = case["rho_bar"] if "rho_bar" in bound else 1.0
    return case.but(
        rho_bar=rho_bar,
        c_bar=case["c_bar"] if "c_bar" in bound else 1.0,
        has_c_bar="c_bar" in bound or "rho_bar" not in bound,
        pg_rho_bar=case["pg_rho_bar"] if "pg_rho_bar" in bound else rho_bar,
        lam=case["lam"] if "lam" in bound else 1.0,
    )


def rebuild(given: Mapping[str, Any]) -> Case:
    rho_bar = given.get("rho_bar", 1.0)
    return steps.rebuild({"lam": 1.0, "c_bar": 1.0, "pg_rho_bar": rho_bar, **given}).but(
        rho_bar=rho_bar, has_c_bar="c_bar" in given, **logps(given)
    )


# ── what arguments are called ───────────────────────────────────────────────────────────────────────────────────────


def _logits(which: str) -> Callable[[Case], Array]:
    """For two actions, so that the one taken has its probability; logits are off by a number that does not matter."""

    def made(case: Case) -> Array:
        taken = np.exp(case[which])
        both = np.stack([taken, 1.0 - taken], axis=-1)
        swapped = np.where(case["action"][..., None] == 0, both, both[..., ::-1])
        return np.asarray(np.log(swapped) + 0.5)

    return made


OWN = (
    Quantity("target_logits", "target_policy_logits target_logits logits new_logits learner_logits", "TBA",
             of=_logits("target_logp"), meaning="logits of the policy that learns"),
    Quantity("behaviour_logits", "behavior_policy_logits behaviour_policy_logits behavior_logits behaviour_logits "
             "old_logits actor_logits mu_logits", "TBA", of=_logits("behaviour_logp"),
             meaning="logits of the policy that acted"),
    Quantity("action", "action actions act acts a a_t", "TB", "int", meaning="which action was taken"),
    Quantity("rho_bar", "rho_bar rho_clip clip_rho clip_rho_threshold rho_thresh rho_threshold max_rho rho_max rho_hat "
             "vtrace_rho_bar rho_clip_threshold vtrace_clip_rho_threshold clip_rho_thresh", meaning="ρ̄"),
    Quantity("c_bar", "c_bar c_clip clip_c clip_c_threshold c_thresh c_threshold max_c c_max c_hat vtrace_c_bar "
             "clip_c_thresh clip_cs_threshold", meaning="c̄"),
    Quantity("pg_rho_bar", "clip_pg_rho_threshold pg_rho_bar pg_rho_clip clip_pg_rho pg_rho_thresh "
             "vtrace_clip_pg_rho_threshold rho_pg_bar", meaning="ρ̄ of the advantages"),
)  # fmt: skip

VTRACE = Oracle(
    name="vtrace",
    aliases="v-trace impala",
    code="ADV120",
    summary="V-trace: off-policy value targets and advantages, with ratios clipped at ρ̄ and c̄.",
    formula="vs_t = V_t + δ_t + γ c_t (1 − done_t)(vs_{t+1} − V_{t+1}),  "
    "δ_t = ρ_t (r_t + γ (1 − terminated_t) V_{t+1} − V_t),  "
    "A_t = ρ_t (r_t + γ (1 − terminated_t) vs_{t+1} − V_t)",
    example="def vtrace(log_rhos, rewards, values, dones, bootstrap_value, gamma, rho_bar, c_bar)",
    references="Espeholt and others, *IMPALA: scalable distributed deep-RL with importance weighted actor-learner "
    "architectures*.",
    quantities=(REWARD, *VALUES, *FLAGS, *RATIO, *OWN, GAMMA_NAME, LAM_NAME),
    outputs=(
        Output("vs", "vs v_trace vtrace target targets v_targets value_targets vs_t vtrace_targets returns", "TB"),
        Output("advantage", "advantage advantages adv advs pg_advantages pg_advantage pg_adv", "TB",
               when="advantage adv pg"),
    ),
    required=("reward", "value|value_and_last", "log_ratio|ratio|target_logp|target_logits|target_prob"),
    columns=("reward", "value", "next_value", "terminated", "truncated", "target_logp", "behaviour_logp"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=steps.fair,
    told=told,
    remarks=steps.remarks,
    rebuild=rebuild,
    styles=(
        Style("usual"),
        Style("c̄ = ρ̄", {"c_told": False}),
        Style("advantages without ρ", {"rho_in_advantage": "nothing"}),
        Style("c̄ = ρ̄, advantages without ρ", {"c_told": False, "rho_in_advantage": "nothing"}),
        Style("advantages with λ", {"advantage_from": "mixed"}),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
