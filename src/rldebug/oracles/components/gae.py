"""Generalised advantage estimation."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.oracles.material.steps import (
    EPISODE_END,
    FLAGS,
    GAMMA_NAME,
    LAM_NAME,
    REWARD,
    VALUES,
    draw_steps,
    fair,
    ladder,
    rebuild,
    remarks,
    shifted,
    steps,
    told,
)
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Style, Values


def reference(case: Case) -> Values:
    gamma, lam = case["gamma"], case["lam"]
    length, envs = case["reward"].shape
    advantage = np.zeros((length, envs))
    for b in range(envs):
        for t in range(length):
            weight = 1.0
            for k in range(t, length):  # every δ from here to the end of the episode or of the rollout
                worth = 0.0 if case["terminated"][k, b] else case["next_value"][k, b]
                advantage[t, b] += weight * (case["reward"][k, b] + gamma * worth - case["value"][k, b])
                weight *= gamma * lam
                if case["done"][k, b]:
                    break
    return {"advantage": advantage, "return": advantage + case["value"]}


def variant(
    case: Case,
    *,
    sign: float = 1.0,
    mask: str = "terminated",  # what stops the bootstrap: terminated, done, nothing
    cut: str = "done",  # what stops the recursion: done, terminated, nothing, everything
    shift: int = 0,  # flags of so many steps later
    beyond: float = 0.0,  # the flag taken where the shift leaves the rollout
    last_flag: str = "shifted",  # own: at the last step, the right one
    bootstrap: str = "next",  # next, same, following (that of the reset state), last-zero, last-same
    discount_in_delta: str = "gamma",  # gamma, lam
    gamma_in_delta: int = 1,  # how many times γ is multiplied in
    gamma_in_sum: int = 1,
    lam_in_sum: int = 1,
    baseline: float = 1.0,
    reward_shift: int = 0,
    forward: bool = False,
    returns: str = "sum",  # sum, advantage, minus, normalised
    normalised: str = "",  # by which standard deviation the advantages are divided
) -> Values:
    gamma, lam = case["gamma"], case["lam"]
    flag = {name: shifted(case[name].astype(float), shift, beyond) for name in ("done", "terminated")}
    for name in flag if last_flag == "own" else ():
        flag[name] = np.concatenate([flag[name][:-1], case[name][-1:].astype(float)])
    flag |= {"nothing": np.zeros_like(flag["done"]), "everything": np.ones_like(flag["done"])}
    reward = shifted(case["reward"], reward_shift, 0.0)
    delta = (
        reward
        + case[discount_in_delta] ** gamma_in_delta * (1.0 - flag[mask]) * _bootstrap(case, bootstrap)
        - baseline * case["value"]
    )
    advantage = np.zeros_like(delta)
    following = np.zeros_like(delta[0])
    order = range(len(delta)) if forward else reversed(range(len(delta)))
    for t in order:
        following = delta[t] + gamma**gamma_in_sum * lam**lam_in_sum * (1.0 - flag[cut][t]) * following
        advantage[t] = following
    advantage = sign * advantage
    scaled = _normalised(advantage, normalised) if normalised else advantage
    target = {
        "sum": advantage + case["value"],
        "advantage": advantage,
        "minus": advantage - case["value"],
        "normalised": _normalised(advantage, "n-1") + case["value"],
    }[returns]
    return {"advantage": scaled, "return": target}


def _bootstrap(case: Case, kind: str) -> Array:
    value: Array = case["next_value"].copy()
    if kind == "same":
        return np.asarray(case["value"])
    if kind == "following":  # after an end, that is the first state of the next episode
        value[:-1] = case["value"][1:]
    elif kind == "last-zero":
        value[-1] = 0.0
    elif kind == "last-same":
        value[-1] = case["value"][-1]
    return value


def _normalised(advantage: Array, by: str) -> Array:
    if advantage.size < 2:
        return advantage * np.nan
    spread = advantage.std(ddof=1 if by == "n-1" else 0)
    return np.asarray((advantage - advantage.mean()) / (spread + 1e-8))


def drawn(draw: Any) -> Case:
    return draw_steps(draw)


_HARM = "Advantages are biased, so the policy is pushed towards the wrong actions; the return curve only looks slow."

GAE = Oracle(
    name="gae",
    aliases="advantage advantages generalized-advantage-estimation compute-gae gae-lambda",
    code="ADV100",
    summary="Generalised advantage estimation: the γλ-weighted sum of TD errors, cut where an episode ends.",
    formula="A_t = δ_t + γ λ (1 − done_t) A_{t+1},  δ_t = r_t + γ (1 − terminated_t) V(s_{t+1}) − V(s_t)",
    example="def gae(rewards, values, dones, last_value, gamma, lam)",
    references="Schulman and others, *High-dimensional continuous control using generalized advantage estimation*.",
    quantities=(REWARD, *VALUES, *FLAGS, EPISODE_END, GAMMA_NAME, LAM_NAME),
    outputs=(
        Output("advantage", "advantage advantages adv advs gae gaes a", "TB"),
        Output("return", "return returns ret rets value_target value_targets target targets returns_to_go", "TB"),
    ),
    required=("reward", "value|value_and_last"),
    columns=("reward", "value", "next_value", "terminated", "truncated"),
    reference=reference,
    variant=variant,
    cases=lambda: [*ladder(), steps("λ = 1", [1, 2, 3], lam=1.0), steps("λ = 0", [1, 2, 3], lam=0.0, edge=True)],
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=rebuild,
    styles=(
        Style("usual"),
        Style("advantages normalised, ÷(N−1)", {"normalised": "n-1"}),
        Style("advantages normalised, ÷N", {"normalised": "n"}),
    ),
    mistakes=(
        Mistake(
            "ADV101", "gae-mask-missing", "The end of an episode stops neither the bootstrap nor the sum.",
            knobs={"mask": "nothing", "cut": "nothing"},
            wrong="delta = r[t] + gamma * v[t+1] - v[t]; adv = delta + gamma * lam * adv",
            right="delta = r[t] + gamma * v[t+1] * (1 - end[t]) - v[t]; adv = delta + gamma * lam * (1 - end[t]) * adv",
            harm="Every episode is credited with what happens in the next one.",
            fix="multiply the bootstrap by 1 − terminated and the recursion by 1 − done",
        ),
        Mistake(
            "ADV102", "gae-bootstrap-not-masked", "The value after a terminal step is added.",
            knobs={"mask": "nothing"},
            wrong="delta = r[t] + gamma * v[t+1] - v[t]",
            right="delta = r[t] + gamma * v[t+1] * (1 - terminated[t]) - v[t]",
            harm="The last steps of an episode are credited with the first state of the next one.",
            fix="multiply V(s_{t+1}) by 1 − terminated_t in δ",
            fine="Where the caller zeroes next values at terminal steps: say `--map next_value_masked=next_values`.",
        ),
        Mistake(
            "ADV103", "gae-runs-over-reset", "The sum runs on over the end of an episode into the next.",
            knobs={"cut": "nothing"},
            wrong="adv = delta + gamma * lam * adv",
            right="adv = delta + gamma * lam * (1 - done[t]) * adv",
            harm="What an action is credited with holds the luck of the next episode.",
            fix="multiply the recursion by 1 − done_t, where done is terminated or truncated",
        ),
        Mistake(
            "ADV104", "gae-mask-shifted", "The flag of another step is used: one too late, or one too early.",
            knobs=(
                {"shift": 1}, {"shift": 1, "beyond": 1.0}, {"shift": -1}, {"shift": -1, "beyond": 1.0},
                {"shift": 1, "last_flag": "own"}, {"shift": -1, "last_flag": "own"},
            ),
            wrong="nonterminal = 1 - dones[t+1]",
            right="nonterminal = 1 - dones[t]",
            harm="The sum is cut one step beside the end: the last step of an episode is credited with the next.",
            fix="use the flag that env.step returned together with the reward of that step",
            seen_in="dones[t] of CleanRL and Stable-Baselines3 tells about the step before; there, t + 1 is right.",
        ),
        Mistake(
            "ADV105", "gae-truncation-as-termination", "A step that was cut off is treated as one that terminated.",
            knobs={"mask": "done"},
            wrong="delta = r[t] + gamma * v[t+1] * (1 - (terminated[t] | truncated[t])) - v[t]",
            right="delta = r[t] + gamma * v[t+1] * (1 - terminated[t]) - v[t]",
            harm="What follows a time limit counts as worth nothing; values near the limit are too low.",
            fix="mask the bootstrap with terminated alone, and the recursion with terminated | truncated",
        ),
        Mistake(
            "ADV106", "gae-runs-over-truncation", "The sum runs on where an episode was cut off.",
            knobs={"cut": "terminated"},
            wrong="adv = delta + gamma * lam * (1 - terminated[t]) * adv",
            right="adv = delta + gamma * lam * (1 - (terminated[t] | truncated[t])) * adv",
            harm="The advantage of one episode is carried into another one that has nothing to do with it.",
            fix="cut the recursion where either flag is set",
        ),
        Mistake(
            "ADV107", "gae-bootstraps-from-reset-state", "Where an episode is cut off, the next one's value is used.",
            knobs={"bootstrap": "following"},
            wrong="delta = r[t] + gamma * v[t+1] * (1 - terminated[t]) - v[t]  # v[t+1] belongs to the reset state",
            right="delta = r[t] + gamma * v_final[t] * (1 - terminated[t]) - v[t]",
            harm="The value of a start state stands in for that of the state where the time ran out.",
            fix="use the value of the final observation of the step, not of the one that follows in the rollout",
        ),
        Mistake(
            "ADV108", "gae-bootstraps-from-same-state", "V(s_t) is used where V(s_{t+1}) belongs.",
            knobs={"bootstrap": "same"},
            wrong="delta = r[t] + gamma * v[t] - v[t]",
            right="delta = r[t] + gamma * v[t+1] - v[t]",
            harm=_HARM,
            fix="use the value of the state the step led to",
        ),
        Mistake(
            "ADV109", "gae-last-value-missing", "The value after the last step of the rollout is not used.",
            knobs=({"bootstrap": "last-zero"}, {"bootstrap": "last-same"}),
            wrong="next_value = 0 if t == T - 1 else v[t+1]",
            right="next_value = last_value if t == T - 1 else v[t+1]",
            harm="Every rollout ends as if the world did: the last steps of each are undervalued.",
            fix="bootstrap the last step with the value of the observation after it",
        ),
        Mistake(
            "ADV110", "gae-sign-flipped", "The advantages have the opposite sign.",
            knobs=({"sign": -1.0}, {"sign": -1.0, "returns": "minus"}),
            wrong="delta = v[t] - (r[t] + gamma * v[t+1])",
            right="delta = r[t] + gamma * v[t+1] - v[t]",
            harm="The policy learns to do what works worst.",
            fix="swap the operands of the difference",
        ),
        Mistake(
            "ADV111", "gae-gamma-missing-in-delta", "The next value is not discounted in δ.",
            knobs={"gamma_in_delta": 0},
            wrong="delta = r[t] + v[t+1] * nonterminal - v[t]",
            right="delta = r[t] + gamma * v[t+1] * nonterminal - v[t]",
            harm=_HARM,
            fix="multiply V(s_{t+1}) by γ",
        ),
        Mistake(
            "ADV160", "gae-lambda-for-gamma", "λ discounts the next value in δ, where γ belongs.",
            knobs={"discount_in_delta": "lam"},
            wrong="delta = r[t] + lam * v[t+1] * nonterminal - v[t]",
            right="delta = r[t] + gamma * v[t+1] * nonterminal - v[t]",
            harm=_HARM,
            fix="discount V(s_{t+1}) by γ; λ weighs the sum alone",
        ),
        Mistake(
            "ADV112", "gae-gamma-missing-in-sum", "The sum decays by λ alone, not by γλ.",
            knobs={"gamma_in_sum": 0},
            wrong="adv = delta + lam * nonterminal * adv",
            right="adv = delta + gamma * lam * nonterminal * adv",
            harm="Far rewards weigh more than the discount says.",
            fix="multiply the recursion by γ λ",
        ),
        Mistake(
            "ADV113", "gae-gamma-twice", "The discount is multiplied in twice.",
            knobs=({"gamma_in_delta": 2}, {"gamma_in_sum": 2}, {"gamma_in_delta": 2, "gamma_in_sum": 2}),
            wrong="delta = r[t] + gamma * (gamma * v[t+1]) - v[t]",
            right="delta = r[t] + gamma * v[t+1] - v[t]",
            harm="The agent plans less far ahead than it was told to.",
            fix="multiply by γ once",
        ),
        Mistake(
            "ADV114", "gae-lambda-missing", "λ is left out: the sum decays by γ alone.",
            knobs={"lam_in_sum": 0},
            wrong="adv = delta + gamma * nonterminal * adv",
            right="adv = delta + gamma * lam * nonterminal * adv",
            harm="These are Monte Carlo advantages: unbiased, but as noisy as the return.",
            fix="multiply the recursion by γ λ",
        ),
        Mistake(
            "ADV115", "gae-not-summed", "Only the one-step TD error is returned.",
            knobs={"cut": "everything"},
            wrong="adv[t] = delta",
            right="adv[t] = delta + gamma * lam * nonterminal * adv[t+1]",
            harm="These are TD(0) advantages: λ has no effect, and the critic's bias is taken over whole.",
            fix="carry the sum from one step to the one before it",
        ),
        Mistake(
            "ADV116", "gae-value-not-subtracted", "V(s_t) is not subtracted.",
            knobs=({"baseline": 0.0}, {"baseline": -1.0}),
            wrong="delta = r[t] + gamma * v[t+1]",
            right="delta = r[t] + gamma * v[t+1] - v[t]",
            harm="All actions look good where all rewards are positive: the gradient is dominated by noise.",
            fix="subtract V(s_t) in δ",
        ),
        Mistake(
            "ADV117", "gae-reward-shifted", "The reward of another step is used.",
            knobs=({"reward_shift": 1}, {"reward_shift": -1}),
            wrong="delta = r[t+1] + gamma * v[t+1] - v[t]",
            right="delta = r[t] + gamma * v[t+1] - v[t]",
            harm="Each action is credited with what its neighbour earned.",
            fix="pair the reward that env.step returned with the state the action was taken in",
        ),
        Mistake(
            "ADV118", "gae-forward-in-time", "The sum runs from the first step to the last, not backwards.",
            knobs={"forward": True},
            wrong="for t in range(T): adv = delta[t] + gamma * lam * adv",
            right="for t in reversed(range(T)): adv = delta[t] + gamma * lam * adv",
            harm="Actions are credited with what happened before them.",
            fix="run the recursion from the last step to the first",
        ),
        Mistake(
            "ADV119", "gae-returns-without-value", "The returns are not advantage plus value.",
            knobs=(
                {"returns": "advantage"}, {"returns": "minus"}, {"returns": "normalised"},
                {"returns": "normalised", "normalised": "n-1"},
            ),
            wrong="returns = advantages",
            right="returns = advantages + values",
            harm="The critic is trained towards the advantage, not towards the return.",
            fix="add the values to the advantages, before these are normalised",
        ),
    ),
)  # fmt: skip
