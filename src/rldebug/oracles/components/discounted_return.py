"""Discounted returns: the reward-to-go of every step, or the return of a whole episode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.oracles.material import steps
from rldebug.oracles.material.steps import AFTER, ANY_FLAG, FLAGS, GAMMA_NAME, REWARD, VALUES, flags_of, ladder
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Style, Values


def reference(case: Case) -> Values:
    length, envs = case["reward"].shape
    returns = np.zeros((length, envs))
    for b in range(envs):
        for t in range(length):
            weight = 1.0
            for k in range(t, length):  # every reward from here to the end of the episode or of the rollout
                returns[t, b] += weight * case["reward"][k, b]
                weight *= case["gamma"]
                if case["terminated"][k, b]:
                    break
                if case["truncated"][k, b] or k == length - 1:
                    returns[t, b] += weight * case["next_value"][k, b]
                    break
    return {"return": returns, "advantage": returns - case["value"], "total": returns[0]}


def variant(
    case: Case,
    *,
    mask: str = "terminated",  # what stops the bootstrap
    cut: str = "done",  # what stops the sum
    shift: int = 0,  # flags of so many steps later
    beyond: float | str = 0.0,
    gamma_power: int = 1,  # how many times γ is multiplied in
    reward_kept: str = "always",  # or unless-done
    own: str = "reward",  # what the step itself adds: reward, discounted, nothing, nothing-and-no-discount
    bootstrap: str = "next",  # or zero
    order: str = "backward",  # or forward, forward-cut-late, sum-so-far, reversed
    counted_from: str = "step",  # γ's exponent: step, rollout, episode
    whole_numbers: str = "",  # where the fraction is cut off: each, end
    restarts: bool = False,  # the sum begins anew with every reward that is not 0
    everywhere: bool = False,  # an end in one environment ends all
    returns: str = "to-go",  # or episode
    normalised: str = "",
) -> Values:
    gamma = case["gamma"] ** gamma_power
    flag = flags_of(case, shift, beyond)
    if restarts:
        flag[cut] = np.maximum(flag[cut], case["reward"] != 0.0)
        flag[mask] = np.maximum(flag[mask], case["reward"] != 0.0)
    if everywhere:
        flag = {name: np.broadcast_to(each.max(axis=1, keepdims=True), each.shape) for name, each in flag.items()}
    reward = case["reward"] * (1.0 - flag["done"]) if reward_kept == "unless-done" else case["reward"]
    if order.startswith("forward") or order == "sum-so-far":
        made = _forward(reward, flag[cut], gamma, order)
    else:
        made = _backward(case, reward, flag[mask], flag[cut], gamma, own, bootstrap, whole_numbers)
    if counted_from != "step":
        made = made * gamma ** _exponent(case, counted_from)
    made = np.trunc(made) if whole_numbers else made
    total = made[-1] if order.startswith("forward") or order == "sum-so-far" else made[0]
    if order == "reversed":
        made = made[::-1]
    if returns == "episode":
        made = _of_episodes(made, case["done"])
    return {"return": _normalised(made, normalised), "advantage": made - case["value"], "total": total}


def _backward(
    case: Case, reward: Array, mask: Array, cut: Array, gamma: float, own: str, bootstrap: str, whole_numbers: str
) -> Array:
    worth = np.zeros_like(reward) if bootstrap == "zero" else case["next_value"]
    made = np.zeros_like(reward)
    for t in reversed(range(len(reward))):
        stays = (1.0 - mask[t]) * worth[t]
        follows = stays if t == len(reward) - 1 else (1.0 - cut[t]) * made[t + 1] + cut[t] * stays
        made[t] = reward[t] + gamma * follows
        if own == "discounted":
            made[t] = gamma * (reward[t] + follows)
        if whole_numbers == "each":
            made[t] = np.trunc(made[t])
    if own == "nothing":
        return np.asarray(made - reward)
    if own == "nothing-and-no-discount":  # the sum of the step after
        last = (1.0 - mask[-1]) * worth[-1]
        return np.concatenate([(1.0 - cut[:-1]) * made[1:], last[None]])
    return made


def _forward(reward: Array, cut: Array, gamma: float, order: str) -> Array:
    made = np.zeros_like(reward)
    running = np.zeros_like(reward[0])
    for t in range(len(reward)):  # rldebug: ignore[sum-carried-forwards]  the mistake itself
        if order == "sum-so-far":
            running = running + gamma**t * reward[t]
        elif order == "forward-cut-late":  # the sum so far is dropped with the flag of the step itself
            running = reward[t] + gamma * (1.0 - cut[t]) * running
        else:
            running = reward[t] + gamma * running
        made[t] = running
        if order != "forward-cut-late":
            running = running * (1.0 - cut[t])
    return made


def _exponent(case: Case, counted_from: str) -> Array:
    """How many steps after the first of the rollout, or of the episode."""
    count = np.zeros_like(case["reward"])
    for t in range(1, len(count)):
        count[t] = count[t - 1] + 1.0
        if counted_from == "episode":
            count[t] *= 1.0 - case["done"][t - 1]
    return np.asarray(count)


def _of_episodes(returns: Array, done: Array) -> Array:
    """At every step, what the first one of its episode got."""
    made = returns.copy()
    for t in range(1, len(made)):
        made[t] = np.where(done[t - 1], returns[t], made[t - 1])
    return np.asarray(made)


def _normalised(returns: Array, by: str) -> Array:
    if not by or (by == "n-1 unless one" and returns.size < 2):
        return returns
    less = returns - returns.mean()
    if by == "mean":
        return np.asarray(less)
    if by.startswith("n-1"):
        return np.asarray(less / (returns.std(ddof=1) + 1e-8) if returns.size > 1 else returns * np.nan)
    return np.asarray(less / (returns.std() + 1e-8))


def fair(case: Case, bound: frozenset[str]) -> bool:
    if bound & AFTER:
        return steps.fair(case, bound)
    if case["done"][:-1].any() and not bound & ANY_FLAG:
        return False
    return not case["truncated"].any() or bool(bound & (ANY_FLAG - {"terminated", "discount"})) or "truncated" in bound


def told(case: Case, bound: frozenset[str]) -> Case:
    """Told no values, it can only sum up the rewards there are."""
    if bound & AFTER:
        return steps.told(case, bound)
    return case.but(next_value=np.zeros_like(case["next_value"]), last_value=np.zeros_like(case["last_value"]))


def remarks(bound: frozenset[str]) -> list[str]:
    if bound & AFTER:
        return steps.remarks(bound)
    said = []
    if not bound & ANY_FLAG:
        said.append("it takes no flag for the end of an episode: right only within one episode")
    said.append(
        "it takes no value for what follows the last step: where that is no end of an episode, returns are too low"
    )
    return said


_X = replace(REWARD, names=f"{REWARD.names} x xs rs ep_rewards episode_rewards ep_rews rewards_list episode ep_rs R")
_OUT = "return returns ret rets g gs reward_to_go rewards_to_go rtg rtgs discounted_returns discounted_rewards "

DISCOUNTED_RETURN = Oracle(
    name="discounted-return",
    aliases="return returns reward-to-go rewards-to-go monte-carlo monte-carlo-return discount-cumsum "
    "discounted-returns",
    code="DIS100",
    summary="Discounted returns: the γ-weighted sum of the rewards from a step to the end of its episode.",
    formula="G_t = r_t + γ (1 − done_t) G_{t+1},  and γ V(s_T) after the last step of a rollout that is no end",
    example="def returns(rewards, dones, last_value, gamma)",
    references="Sutton and Barto, *Reinforcement Learning*, chapter 3.",
    quantities=(_X, *VALUES, *FLAGS, GAMMA_NAME),
    outputs=(
        Output("return", _OUT + "returns_to_go target targets q_values disc_rewards disc_returns batch_rtgs", "TB"),
        Output("total", "total total_return episode_return discounted_return g0 total_reward discounted_sum", "B"),
        Output("advantage", "advantage advantages adv advs", "TB"),
    ),
    required=("reward",),
    columns=("reward", "next_value", "terminated", "truncated"),
    reference=reference,
    variant=variant,
    cases=lambda: [
        *ladder(),
        steps.steps("three steps, the first and the last terminate", [1, 2, 3], terminated=[1, 0, 1]),
        steps.steps("four steps, the third terminates", [2, -1, 3, 4], terminated=[0, 0, 1, 0]),
        steps.steps("three steps, the second pays nothing", [1, 0, 3], terminated=[0, 0, 1]),
        steps.steps("three steps, the first pays nothing", [0, 2, 3], terminated=[0, 0, 1]),
        steps.steps("three steps, halves", [1.5, 0.5, 2.5], terminated=[0, 0, 1]),
    ],
    drawn=steps.draw_steps,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=steps.rebuild,
    styles=(
        Style("usual"),
        Style("normalised, ÷(N−1)", {"normalised": "n-1"}),
        Style("normalised, ÷N", {"normalised": "n"}),
        Style("normalised, ÷(N−1), unless there is one step only", {"normalised": "n-1 unless one"}),
        Style("less their mean", {"normalised": "mean"}),
    ),
    mistakes=(
        Mistake(
            "DIS101", "discounted-return-runs-over-reset", "The sum runs on over the end of an episode into the next.",
            knobs={"cut": "nothing", "mask": "nothing"},
            wrong="R = r[t] + gamma * R",
            right="R = r[t] + gamma * (1 - done[t]) * R",
            harm="Every episode is credited with what happens in the next one.",
            fix="multiply the running sum by 1 − done_t",
            fine="Where it is called with the rewards of one episode only.",
        ),
        Mistake(
            "DIS102", "discounted-return-mask-shifted",
            "The flag of another step is used: one too late, or one too early.",
            knobs=(
                {"shift": 1}, {"shift": 1, "beyond": 1.0}, {"shift": 1, "beyond": "own"},
                {"shift": -1}, {"shift": -1, "beyond": 1.0}, {"shift": -1, "beyond": "own"},
            ),
            wrong="R = r[t] + gamma * (1 - done[t+1]) * R",
            right="R = r[t] + gamma * (1 - done[t]) * R",
            harm="The sum is cut one step beside the end of the episode.",
            fix="use the flag that env.step returned together with the reward of that step",
        ),
        Mistake(
            "DIS103", "discounted-return-terminal-reward-dropped",
            "The reward of the step that ends an episode is lost.",
            knobs={"reward_kept": "unless-done"},
            wrong="R = (r[t] + gamma * R) * (1 - done[t])",
            right="R = r[t] + gamma * R * (1 - done[t])",
            harm="Where a reward comes with the end, as for a goal or a win, it is never learned.",
            fix="multiply only what follows the step by 1 − done_t, not its reward",
            seen_in="thu-ml/tianshou issue #135",
        ),
        Mistake(
            "DIS104", "discounted-return-forward-in-time",
            "The sum runs from the first step to the last, not backwards.",
            knobs=({"order": "forward"}, {"order": "forward-cut-late"}, {"order": "sum-so-far"}),
            wrong="for r in rewards: R = r + gamma * R",
            right="for r in reversed(rewards): R = r + gamma * R",
            harm="Actions are credited with what happened before them.",
            fix="run over the rewards from the last to the first",
        ),
        Mistake(
            "DIS105", "discounted-return-order-reversed", "The returns come in the reversed order of the steps.",
            knobs={"order": "reversed"},
            wrong="for r in reversed(rewards): R = r + gamma * R; returns.append(R)",
            right="for r in reversed(rewards): R = r + gamma * R; returns.insert(0, R)",
            harm="The first action gets the return of the last one, and the other way round.",
            fix="insert at the front, or reverse the list at the end",
        ),
        Mistake(
            "DIS106", "discounted-return-gamma-missing", "The rewards are not discounted.",
            knobs={"gamma_power": 0},
            wrong="R = r[t] + R",
            right="R = r[t] + gamma * R",
            harm="The discount setting has no effect; returns grow with the length of the episode.",
            fix="multiply the running sum by γ",
            fine="Where γ is meant to be 1, and the argument is for something else.",
        ),
        Mistake(
            "DIS107", "discounted-return-gamma-twice", "The discount is multiplied in twice.",
            knobs={"gamma_power": 2},
            wrong="R = r[t] + gamma * gamma * R",
            right="R = r[t] + gamma * R",
            harm="The agent plans less far ahead than it was told to.",
            fix="multiply by γ once for each step",
        ),
        Mistake(
            "DIS108", "discounted-return-own-reward-discounted", "The reward of the step itself is discounted too.",
            knobs={"own": "discounted"},
            wrong="R = gamma * (r[t] + R)",
            right="R = r[t] + gamma * R",
            harm="All returns are too small by the factor γ, and values learned by bootstrapping do not agree with "
            "them.",
            fix="multiply the running sum by γ before the reward is added",
        ),
        Mistake(
            "DIS109", "discounted-return-discounted-from-start",
            "γ's exponent counts from the start, not from the step.",
            knobs=({"counted_from": "rollout"}, {"counted_from": "episode"}),
            wrong="G[t] = sum(gamma**k * r[k] for k in range(t, T))",
            right="G[t] = sum(gamma**(k - t) * r[k] for k in range(t, T))",
            harm="Late steps weigh γ^t as much: the policy hardly learns what to do late in an episode.",
            fix="use the exponent k − t",
            fine="Where the gradient of the discounted start value is wanted to the letter; hardly anybody does.",
        ),
        Mistake(
            "DIS110", "discounted-return-own-reward-missing", "The sum begins with the step after.",
            knobs=({"own": "nothing"}, {"own": "nothing-and-no-discount"}),
            wrong="G[t] = sum(gamma**(k - t - 1) * r[k] for k in range(t + 1, T))",
            right="G[t] = sum(gamma**(k - t) * r[k] for k in range(t, T))",
            harm="An action is not credited with the reward it earned.",
            fix="begin with the reward of the step itself",
        ),
        Mistake(
            "DIS111", "discounted-return-not-summed", "The rewards are returned as they are.",
            knobs={"cut": "everything", "mask": "everything"},
            wrong="returns = rewards",
            right="returns[t] = r[t] + gamma * (1 - done[t]) * returns[t+1]",
            harm="No action is credited with what it leads to later.",
            fix="carry the sum from one step to the one before it",
            seen_in="natolambert/rlhf-book PR #216",
        ),
        Mistake(
            "DIS112", "discounted-return-last-value-missing",
            "The value after the last step of the rollout is not used.",
            knobs={"bootstrap": "zero"},
            wrong="R = 0",
            right="R = last_value",
            harm="Every rollout ends as if the world did: the last steps of each are undervalued.",
            fix="begin the sum with the value of the observation after the last step",
        ),
        Mistake(
            "DIS113", "discounted-return-truncation-as-termination",
            "A step that was cut off counts as one that terminated.",
            knobs={"mask": "done"},
            wrong="R = R * (1 - (terminated[t] | truncated[t]))",
            right="R = V(final observation) where truncated[t], 0 where terminated[t]",
            harm="What follows a time limit counts as worth nothing; values near the limit are too low.",
            fix="begin the sum anew with V of the final observation where an episode was cut off",
        ),
        Mistake(
            "DIS114", "discounted-return-whole-numbers", "The returns are cut off to whole numbers.",
            knobs=({"whole_numbers": "end"}, {"whole_numbers": "each"}),
            wrong="returns = torch.zeros(T, dtype=torch.long)",
            right="returns = torch.zeros(T)",
            harm="What is discounted below 1 counts as nothing, and the value loss cannot fall below the error.",
            fix="keep returns as floating-point numbers",
            seen_in="thu-ml/tianshou: returns were cast to the type of discrete actions",
        ),
        Mistake(
            "DIS116", "discounted-return-restarts-at-reward", "The sum begins anew with every reward that is not 0.",
            knobs={"restarts": True},
            wrong="if r[t] != 0: R = 0",
            right="if done[t]: R = 0",
            harm="What follows a reward is never credited to the steps before it.",
            fix="begin anew where an episode ends",
            fine="In Pong, where every point begins a new rally.",
            seen_in="Karpathy's *Pong from pixels*, copied to games where it does not hold",
        ),
        Mistake(
            "DIS117", "discounted-return-same-for-every-step", "Every step gets the return of the whole episode.",
            knobs={"returns": "episode"},
            wrong="returns = [sum(gamma**k * r[k] for k in range(T))] * T",
            right="returns[t] = sum(gamma**(k - t) * r[k] for k in range(t, T))",
            harm="An action is also credited with what came before it: the gradient is right on average, but noisier.",
            fix="sum up from the step on",
            fine="In the simplest policy gradient, which weighs every step by the whole return.",
        ),
        Mistake(
            "DIS115", "discounted-return-one-end-stops-all", "An end in one environment stops the sums of all.",
            knobs={"everywhere": True},
            wrong="if dones[t].any(): R = torch.zeros_like(R)",
            right="R = R * (1 - dones[t])",
            harm="With many environments, hardly a reward reaches more than a few steps back.",
            fix="multiply by 1 − done_t, environment by environment",
        ),
    ),
)  # fmt: skip
