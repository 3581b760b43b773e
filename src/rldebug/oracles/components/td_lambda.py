"""TD(λ) returns: one-step bootstraps and the return that follows, mixed by λ."""

from __future__ import annotations

from dataclasses import replace
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
    flags_of,
    ladder,
    led_to,
    rebuild,
    remarks,
    told,
)
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Values


def reference(case: Case) -> Values:
    lam = case["lam"]
    length, envs = case["reward"].shape
    returns = np.zeros((length, envs))
    for b in range(envs):
        for t in range(length):
            end = t  # the last step before the episode or the rollout ends
            while end < length - 1 and not case["done"][end, b]:
                end += 1
            weight = 1.0
            for k in range(t, end):  # all n-step returns that end before, weighed by (1 − λ) λ^(n−1) ...
                returns[t, b] += (1.0 - lam) * weight * _up_to(case, t, k, b)
                weight *= lam
            returns[t, b] += weight * _up_to(case, t, end, b)  # ... and the longest by what is left
    return {"return": returns, "advantage": returns - case["value"]}


def _up_to(case: Case, first: int, last: int, b: int) -> float:
    """The rewards from one step to another, and the value that the last one led to."""
    total, weight = 0.0, 1.0
    for k in range(first, last + 1):
        total += weight * case["reward"][k, b]
        weight *= case["gamma"]
    return total if case["terminated"][last, b] else total + weight * float(case["next_value"][last, b])


def variant(
    case: Case,
    *,
    mask: str = "terminated",  # what stops the one-step bootstrap
    cut: str = "done",  # what stops the recursion
    ends: str = "terminated",  # where the recursion is cut by something else, the next value stands in
    shift: int = 0,  # flags of so many steps later
    beyond: float | str = 0.0,
    bootstrap: str = "next",  # see led_to
    mixture: str = "next",  # the same for the one-step bootstrap alone
    start: str = "value",  # what follows the last step in the recursion: value, masked, zero
    weights: str = "usual",  # of the bootstrap and of the return that follows
    gamma_value: int = 1,  # how many times γ is multiplied into the one ...
    gamma_sum: int = 1,  # ... and into the other
    reward_kept: str = "always",  # or unless-done
    less: float = 0.0,  # how much of V(s_t) is subtracted
) -> Values:
    gamma, lam = case["gamma"], case["lam"]
    flag = flags_of(case, shift, beyond)
    reward = case["reward"] * (1.0 - flag["done"]) if reward_kept == "unless-done" else case["reward"]
    worth = led_to(case, bootstrap)
    stands_in = np.maximum(flag[cut] - flag[ends], 0.0) * worth
    of_value, of_sum = {
        "usual": (1.0 - lam, lam),
        "swapped": (lam, 1.0 - lam),
        "not one": (1.0, lam),
        "sum only": (0.0, lam),
        "one step": (1.0, 0.0),
        "all steps": (0.0, 1.0),
        "unfinished": (0.0, 0.0),
    }[weights]
    mixed_in = led_to(case, mixture) if mixture != "next" else worth
    if weights == "unfinished":
        return {"return": _unfinished(case), "advantage": _unfinished(case) - case["value"]}
    returns = np.zeros_like(reward)
    following = {"value": worth[-1], "masked": worth[-1] * (1.0 - flag[mask][-1]), "zero": np.zeros_like(worth[-1])}[
        start
    ]
    for t in reversed(range(len(reward))):
        follows = (1.0 - flag[cut][t]) * following + stands_in[t]
        returns[t] = (
            reward[t]
            + gamma**gamma_value * of_value * (1.0 - flag[mask][t]) * mixed_in[t]
            + gamma**gamma_sum * of_sum * follows
        )
        following = returns[t]
    return {"return": returns - less * case["value"], "advantage": returns - case["value"]}


def _unfinished(case: Case) -> Array:
    """All n-step returns weighed by (1 − λ) λ^(n−1), the longest too: the weights do not add up to 1."""
    length, envs = case["reward"].shape
    made = np.zeros((length, envs))
    for t, b in np.ndindex(length, envs):
        for k in range(t, length):
            made[t, b] += (1.0 - case["lam"]) * case["lam"] ** (k - t) * _up_to(case, t, k, b)
            if case["done"][k, b]:
                break
    return made


def drawn(draw: Any) -> Case:
    return draw_steps(draw)


_NEXT = " v_t target_values next_q next_q_values q_next next_max_q next_qs boot values_after"
_VALUES = tuple(replace(each, names=each.names + _NEXT) if each.name == "next_value" else each for each in VALUES)

_LAM = replace(LAM_NAME, names=LAM_NAME.names + " lambda_t lam_t q_lambda")

TD_LAMBDA = Oracle(
    name="td-lambda",
    aliases="lambda-return lambda-returns td-lambda-return td-lambda-returns q-lambda",
    code="DIS160",
    summary="TD(λ) returns: bootstraps from the next value and the return that follows, mixed by λ.",
    formula="G_t = r_t + γ (1 − terminated_t) [ (1 − λ) V(s_{t+1}) + λ G_{t+1} ],  and V(s_{t+1}) for G_{t+1} at a cut",
    example="def lambda_returns(rewards, next_values, terminated, truncated, gamma, lam)",
    references="Sutton and Barto, *Reinforcement Learning*, chapter 12.",
    quantities=(REWARD, *_VALUES, *FLAGS, EPISODE_END, GAMMA_NAME, _LAM),
    outputs=(
        Output("return", "return returns ret rets target targets value_target value_targets "
               "lambda_returns g lambda_return", "TB"),
        Output("advantage", "advantage advantages adv advs", "TB", when="advantage adv"),
    ),
    required=("reward", "value|value_and_last|next_value|next_value_masked"),
    columns=("reward", "next_value", "terminated", "truncated"),
    reference=reference,
    variant=variant,
    cases=lambda: [
        *ladder(),
        *(case.but(lam=1.0) for case in ladder()[5:7]),
        *(replace(case.but(lam=0.0), edge=True) for case in ladder()[5:6]),
    ],
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=rebuild,
    mistakes=(
        Mistake(
            "DIS161", "td-lambda-mask-missing", "The end of an episode stops neither the bootstrap nor the recursion.",
            knobs={"mask": "nothing", "cut": "nothing"},
            wrong="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            right="G = r[t] + gamma * (1 - terminated[t]) * ((1 - lam) * v_next[t] + lam * G)",
            harm="Every episode is credited with what happens in the next one.",
            fix="multiply all that follows the reward by 1 − terminated, and cut the recursion where an episode ends",
        ),
        Mistake(
            "DIS162", "td-lambda-runs-over-reset", "The recursion runs on over the end of an episode into the next.",
            knobs=({"cut": "nothing"}, {"cut": "nothing", "start": "masked"}),
            wrong="G = r[t] + gamma * (lam * G + (1 - lam) * v_next[t] * (1 - done[t]))",
            right="G = r[t] + gamma * (lam * G + (1 - lam) * v_next[t]) * (1 - done[t])",
            harm="The returns of one episode leak into the one before it.",
            fix="put the mask on both terms",
            seen_in="vwxyzjn/cleanrl PR #494 (PQN)",
        ),
        Mistake(
            "DIS163", "td-lambda-bootstrap-not-masked",
            "The value after a terminal step is added, as if the episode went on.",
            knobs=({"mask": "nothing"}, {"mask": "nothing", "ends": "nothing"}),
            wrong="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G * (1 - done[t]))",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G) * (1 - done[t])",
            harm="The last steps of an episode are credited with the first state of the next one.",
            fix="put the mask on both terms",
        ),
        Mistake(
            "DIS164", "td-lambda-mask-shifted", "The flag of another step is used: one too late, or one too early.",
            knobs=(
                {"shift": 1}, {"shift": 1, "beyond": 1.0}, {"shift": 1, "beyond": "own"},
                {"shift": -1}, {"shift": -1, "beyond": 1.0}, {"shift": -1, "beyond": "own"},
            ),
            wrong="nonterminal = 1 - dones[t+1]",
            right="nonterminal = 1 - dones[t]",
            harm="The recursion is cut one step beside the end of the episode.",
            fix="use the flag that env.step returned together with the reward of that step",
        ),
        Mistake(
            "DIS165", "td-lambda-truncation-as-termination",
            "A step that was cut off is treated as one that terminated.",
            knobs={"mask": "done", "ends": "done"},
            wrong="G = r[t] + gamma * (1 - (terminated[t] | truncated[t])) * ((1 - lam) * v_next[t] + lam * G)",
            right="G = V(final observation) where truncated[t]; then only terminated[t] is masked",
            harm="What follows a time limit counts as worth nothing; values near the limit are too low.",
            fix="where an episode was cut off, put V of its final observation in place of the return that follows",
        ),
        Mistake(
            "DIS166", "td-lambda-cut-without-value", "Where an episode is cut off, λ times nothing is added.",
            knobs={"ends": "done"},
            wrong="G = r[t] + gamma * ((1 - lam) * v_next[t] * (1 - terminated[t]) + lam * (1 - done[t]) * G)",
            right="G = r[t] + gamma * v_next[t] where truncated[t]",
            harm="At a time limit only the share 1 − λ of the value counts.",
            fix="where an episode was cut off, put V of its final observation in place of the return that follows",
        ),
        Mistake(
            "DIS167", "td-lambda-runs-over-truncation", "The recursion runs on where an episode was cut off.",
            knobs={"cut": "terminated"},
            wrong="G = r[t] + gamma * (1 - terminated[t]) * ((1 - lam) * v_next[t] + lam * G)",
            right="G = v_next[t] where truncated[t], before that line",
            harm="The returns of one episode are carried into another one that has nothing to do with it.",
            fix="cut the recursion where either flag is set",
        ),
        Mistake(
            "DIS168", "td-lambda-bootstraps-from-reset-state", "At a cut, the first value of the next episode is used.",
            knobs={"bootstrap": "following"},
            wrong="v_next = torch.cat([values[1:], last_value])",
            right="v_next = values of the final observations where an episode ended",
            harm="The value of a start state stands in for that of the state where the time ran out.",
            fix="use the value of the final observation of the step, not of the one that follows in the rollout",
        ),
        Mistake(
            "DIS169", "td-lambda-bootstraps-from-same-state", "V(s_t) is used where V(s_{t+1}) belongs.",
            knobs=({"bootstrap": "same"}, {"bootstrap": "same", "start": "zero"}, {"mixture": "same"}),
            wrong="G = r[t] + gamma * ((1 - lam) * v[t] + lam * G)",
            right="G = r[t] + gamma * ((1 - lam) * v[t+1] + lam * G)",
            harm="A state's value is pulled towards itself, not towards what follows.",
            fix="use the value of the state the step led to",
        ),
        Mistake(
            "DIS170", "td-lambda-last-value-missing",
            "The value after the last step of the rollout is not used in full.",
            knobs=({"start": "zero"}, {"bootstrap": "last-zero"}, {"bootstrap": "last-same"}),
            wrong="G = 0",
            right="G = last_value",
            harm="Every rollout ends as if the world did: the last steps of each are undervalued.",
            fix="begin the recursion with the value of the observation after the last step",
        ),
        Mistake(
            "DIS171", "td-lambda-weights-swapped", "λ weighs the bootstrap and 1 − λ the return that follows.",
            knobs={"weights": "swapped"},
            wrong="G = r[t] + gamma * (lam * v_next[t] + (1 - lam) * G)",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="λ = 0.95 then means nearly one-step targets.",
            fix="weigh the return that follows by λ",
        ),
        Mistake(
            "DIS172", "td-lambda-weights-above-one", "The bootstrap is not weighed by 1 − λ.",
            knobs={"weights": "not one"},
            wrong="G = r[t] + gamma * (v_next[t] + lam * G)",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="What follows counts up to twice: values grow without bound.",
            fix="multiply V(s_{t+1}) by 1 − λ",
        ),
        Mistake(
            "DIS173", "td-lambda-value-missing", "The bootstrap of the step is left out.",
            knobs={"weights": "sum only"},
            wrong="G = r[t] + gamma * lam * G",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="This is a return with the discount γλ: the agent plans less far ahead than it was told to.",
            fix="add γ (1 − λ) V(s_{t+1})",
        ),
        Mistake(
            "DIS174", "td-lambda-lambda-ignored", "λ has no effect.",
            knobs=({"weights": "one step"}, {"weights": "all steps"}),
            wrong="G = r[t] + gamma * v_next[t]",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="These are one-step targets, or Monte Carlo returns, whatever λ is set to.",
            fix="mix the next value and the return that follows by λ",
        ),
        Mistake(
            "DIS175", "td-lambda-gamma-missing", "What follows is not discounted, or only one part of it.",
            knobs=({"gamma_value": 0, "gamma_sum": 0}, {"gamma_value": 0}, {"gamma_sum": 0}),
            wrong="G = r[t] + gamma * (1 - lam) * v_next[t] + lam * G",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="Far rewards weigh more than the discount says.",
            fix="put γ before the bracket that holds both terms",
        ),
        Mistake(
            "DIS176", "td-lambda-gamma-twice", "The discount is multiplied in twice.",
            knobs=({"gamma_value": 2, "gamma_sum": 2}, {"gamma_value": 2}, {"gamma_sum": 2}),
            wrong="G = r[t] + gamma * ((1 - lam) * v_next[t] + gamma * lam * G)",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)",
            harm="The agent plans less far ahead than it was told to.",
            fix="multiply by γ once",
        ),
        Mistake(
            "DIS178", "td-lambda-weights-unfinished", "The longest return has not all the weight that is left.",
            knobs={"weights": "unfinished"},
            wrong="G = sum((1 - lam) * lam**(n - 1) * G_n for n in range(1, N + 1))",
            right="G = sum((1 - lam) * lam**(n - 1) * G_n for n in range(1, N)) + lam**(N - 1) * G_N",
            harm="The weights do not add up to 1: returns near the end of an episode are far too small.",
            fix="weigh the longest return by λ^(N−1)",
        ),
        Mistake(
            "DIS179", "td-lambda-value-subtracted", "The advantage is returned in place of the return.",
            knobs={"less": 1.0},
            wrong="return gae",
            right="return gae + values",
            harm="The critic is trained towards the advantage, not towards the return.",
            fix="add V(s_t)",
            fine="Where the advantage is wanted: then call it so.",
        ),
        Mistake(
            "DIS177", "td-lambda-terminal-reward-dropped", "The reward of the step that ends an episode is lost.",
            knobs={"reward_kept": "unless-done"},
            wrong="G = (r[t] + gamma * ((1 - lam) * v_next[t] + lam * G)) * (1 - done[t])",
            right="G = r[t] + gamma * ((1 - lam) * v_next[t] + lam * G) * (1 - done[t])",
            harm="Where a reward comes with the end, as for a goal or a win, it is never learned.",
            fix="multiply only what follows the step by 1 − done_t, not its reward",
        ),
    ),
)  # fmt: skip
