"""The target of Q-learning with a target network, plain and double."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material.q_tables import (
    ACTION,
    NETWORKS,
    NEXT_Q,
    OBSERVATIONS,
    cases,
    completed,
    drawn,
    remarks,
    told,
)
from rldebug.oracles.material.replayed import FLAGS, GAMMA_NAME, N_STEPS, REWARD, fair, mask_of, outcomes
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats


def reference(case: Case) -> Values:
    target = np.zeros(len(case["reward"]))
    for i in range(len(target)):
        worth = case["next_q"][i]
        chosen = case["next_q_online"][i] if case["double"] else worth
        best = 0
        for action in range(len(chosen)):
            if chosen[action] > chosen[best]:
                best = action
        target[i] = case["reward"][i]
        if not case["terminated"][i]:
            target[i] += case["gamma"] ** case["n"] * worth[best]
    return {"target": target}


def variant(
    case: Case,
    *,
    double: bool = False,
    choose: str = "",  # which network chooses the next action: online, target
    values: str = "target",  # and which one says what it is worth
    state: str = "next",  # next, current
    pick: str = "max",  # max, min, mean, sum, index, taken
    axis: str = "actions",  # actions, rows, all
    mask: str = "terminated",
    masks_reward: bool = False,
    gamma_power: int = 1,
    n_power: str = "power",  # power, one, times
    reward_gamma: int = 0,
    reward: float = 1.0,
    reward_clip: str = "",  # clamp, sign
    target_clip: bool = False,
    sign: float = 1.0,
    axes: tuple[int, int, int] = (0, 0, 0),  # of reward, mask, value, where they are broadcast against each other
) -> Values:
    kept = mask_of(case, mask)
    worth = _worth(case, choose or ("online" if double or case["double"] else "target"), values, state, pick, axis)
    gamma = case["gamma"]
    steps = {"power": gamma ** case["n"], "one": gamma, "times": gamma * case["n"]}[n_power]
    factor = {0: 1.0, 1: steps, 2: steps * gamma}[gamma_power]
    gained = reward * gamma**reward_gamma * case["reward"]
    if reward_clip:
        gained = np.sign(gained) if reward_clip == "sign" else np.clip(gained, -1.0, 1.0)
    if masks_reward:
        gained = gained * kept
    if len(set(axes)) > 1:
        gained, kept, worth = (_along(each, at) for each, at in zip((gained, kept, worth), axes, strict=True))
    target = gained + sign * factor * kept * worth
    return {"target": np.clip(target, -1.0, 1.0) if target_clip else target}


def _worth(case: Case, choose: str, values: str, state: str, pick: str, axis: str) -> Array:
    """What the next state is worth, for each row."""
    names = {"online": "next_q_online", "target": "next_q"}
    if state == "current":
        names = {"online": "q", "target": "q_of_target"}
    chosen, table = case[names[choose]], case[names[values]]
    count, actions = table.shape
    if axis == "all":
        every = {"max": table.max(), "min": table.min(), "mean": table.mean(), "sum": table.sum()}
        return np.full(count, every.get(pick, table.max()))
    if axis == "rows":
        best = np.asarray(table.max(axis=0))
        return best if count in (1, actions) else np.full(count, np.nan)
    if pick in ("mean", "sum"):
        return np.asarray(table.mean(axis=1) if pick == "mean" else table.sum(axis=1))
    index = chosen.argmin(axis=1) if pick == "min" else chosen.argmax(axis=1)
    if pick == "index":
        return floats(index)
    if pick == "taken":
        index = case["action"]
    return np.asarray(table[np.arange(count), index])


def _along(values: Array, axis: int) -> Array:
    return values[:, None] if axis else values[None, :]


def rebuild(given: Mapping[str, Any]) -> Case:
    return completed(given, outcomes(given))


BROADCASTS = tuple(
    {"axes": each} for each in ((1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1))
)  # fmt: skip
_HARM = "The targets are wrong in every update, so the values settle at other numbers than the returns."
_RIGHT = "target = r + gamma * (1 - terminated) * next_q.max(1).values"

DQN_TARGET = Oracle(
    name="dqn-target",
    aliases="q-target td-target-dqn double-dqn-target dqn q-learning-target double-q-target",
    code="VAL100",
    summary="The target of Q-learning: reward plus the discounted value of the best next action.",
    formula="y = r + γⁿ (1 − terminated) Q_target(s′, a′),  a′ = argmax Q_target(s′, ·), or argmax Q(s′, ·) if double",
    example="def dqn_target(rewards, dones, next_q, gamma)",
    references="Mnih and others, *Human-level control through deep reinforcement learning*; "
    "van Hasselt and others, *Deep reinforcement learning with double Q-learning*.",
    quantities=(
        REWARD, *NEXT_Q, ACTION, *FLAGS, *NETWORKS, *OBSERVATIONS, GAMMA_NAME, N_STEPS,
        Quantity("q", "q qs q_values q_value q_vals q_pred q_preds current_q current_qs q_s q_tm1 q_current q_t "
                 "q_values_current", "NA", meaning="Q(s, ·)"),
    ),
    outputs=(
        Output("target", "td_target td_targets y ys expected expected_q expected_q_values "
               "expected_state_action_values td_target_values", "N"),
    ),
    required=("reward", "next_q|next_q_online|next_best_q|target_net|q_net"),
    columns=("reward", "terminated", "truncated", "next_q", "next_q_online", "action", "n"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=rebuild,
    styles=(
        Style("plain", unless="double ddqn"),
        Style("double", {"double": True}),
        Style("rewards clipped to [−1, 1]", {"reward_clip": "clamp"}),
        Style("the sign of rewards", {"reward_clip": "sign"}),
        Style("double, rewards clipped to [−1, 1]", {"double": True, "reward_clip": "clamp"}),
    ),
    mistakes=(
        Mistake(
            "VAL101", "dqn-target-mask-missing", "The value after a terminal step is added, as if the episode went on.",
            knobs={"mask": "nothing"},
            wrong="target = r + gamma * next_q.max(1).values",
            right=_RIGHT,
            harm="A state that ends the episode is worth what the next episode begins with; values grow without end.",
            fix="multiply the bootstrap by 1 − terminated",
            seen_in="drlinter/drlinter buggy-clones DQN_Missing_terminal_state.py",
        ),
        Mistake(
            "VAL102", "dqn-target-mask-inverted", "The bootstrap is added where the episode ended, and only there.",
            knobs=({"mask": "inverted"}, {"mask": "inverted-done"}),
            wrong="target = r + gamma * done * next_q.max(1).values",
            right=_RIGHT,
            harm="Nothing is carried from one state to the one before it: values are those of the next reward.",
            fix="multiply by 1 − terminated, not by terminated",
        ),
        Mistake(
            "VAL103", "dqn-target-truncation-as-termination", "A time limit counts as an end: nothing is bootstrapped.",
            knobs={"mask": "done"},
            wrong="target = r + gamma * (1 - (terminated | truncated)) * next_q.max(1).values",
            right=_RIGHT,
            harm="States met near the time limit are worth less than they are, by chance of when they were met.",
            fix="mask with terminated alone",
            fine="Where the time left is part of the observation.",
        ),
        Mistake(
            "VAL104", "dqn-target-wrong-axis", "The maximum is taken over the rows of the batch, not over actions.",
            knobs=({"axis": "rows"}, {"axis": "all"}),
            wrong="target = r + gamma * (1 - done) * next_q.max()",
            right=_RIGHT,
            harm="Every row gets the value of another row's state.",
            fix="take the maximum over the axis of actions: max(1), max(axis=1)",
        ),
        Mistake(
            "TGT120", "dqn-target-online-network", "The target comes from the online network, not from the target one.",
            knobs={"choose": "online", "values": "online"},
            wrong="next_q = q_net(next_obs).max(1).values",
            right="next_q = target_net(next_obs).max(1).values",
            harm="The target moves with every update that chases it: values oscillate or run away.",
            fix="evaluate the next state with the target network",
            fine="For methods that do without a target network on purpose.",
        ),
        Mistake(
            "VAL105", "dqn-target-roles-swapped", "The target network chooses the action and the online one values it.",
            knobs={"choose": "target", "values": "online"},
            wrong="a = target_net(next_obs).argmax(1); next_q = q_net(next_obs)[rows, a]",
            right="a = q_net(next_obs).argmax(1); next_q = target_net(next_obs)[rows, a]",
            harm="The value is that of the moving network, so the target is not held still.",
            fix="choose with the online network, evaluate with the target network",
            seen_in="vwxyzjn/cleanrl commit 8fc71147",
        ),
        Mistake(
            "VAL106", "dqn-target-double-in-name-only",
            "The action is chosen by the target values: this is not double.",
            knobs={"choose": "target"},
            wrong="a = next_q_target.argmax(1); next_q = next_q_target[rows, a]",
            right="a = next_q_online.argmax(1); next_q = next_q_target[rows, a]",
            harm="The overestimation that double Q-learning is there to remove is kept.",
            fix="take the argmax of the online values",
            fine="Where plain Q-learning is wanted; then drop the argument.",
            seen_in="pytorch/rl PR #1737",
        ),
        Mistake(
            "VAL107", "dqn-target-gamma-missing", "The next value is not discounted.",
            knobs={"gamma_power": 0},
            wrong="target = r + (1 - done) * next_q.max(1).values",
            right=_RIGHT,
            harm="Values grow with the length of the episode, or without end.",
            fix="multiply the bootstrap by γ",
            seen_in="FlowSs/RLMutation, operator NDF",
        ),
        Mistake(
            "VAL108", "dqn-target-gamma-twice", "The discount is multiplied in twice.",
            knobs={"gamma_power": 2},
            wrong="target = r + gamma * (1 - done) * (gamma * next_q.max(1).values)",
            right=_RIGHT,
            harm="The agent plans less far ahead than it was told to.",
            fix="multiply by γ once",
        ),
        Mistake(
            "VAL109", "dqn-target-current-state",
            "The bootstrap is the value of the state itself, not of the next one.",
            knobs={"state": "current"},
            wrong="target = r + gamma * (1 - done) * target_net(obs).max(1).values",
            right="target = r + gamma * (1 - done) * target_net(next_obs).max(1).values",
            harm="Nothing is learnt about what follows: values settle at r / (1 − γ) of each state's own reward.",
            fix="evaluate the next observation",
        ),
        Mistake(
            "VAL110", "dqn-target-min-for-max", "The worst next action is taken, not the best.",
            knobs={"pick": "min"},
            wrong="target = r + gamma * (1 - done) * next_q.min(1).values",
            right=_RIGHT,
            harm="The agent learns what follows if it does its worst from the next step on.",
            fix="take the maximum over actions",
        ),
        Mistake(
            "VAL111", "dqn-target-mean-for-max", "All next actions are averaged or added up; the best should be taken.",
            knobs=({"pick": "mean"}, {"pick": "sum"}),
            wrong="target = r + gamma * (1 - done) * next_q.mean(1)",
            right=_RIGHT,
            harm="These are the values of a policy that acts at random, not of the greedy one.",
            fix="take the maximum over actions",
            fine="Where the policy that is valued does act at random.",
        ),
        Mistake(
            "VAL112", "dqn-target-index-as-value", "The index of the best action is used as its value.",
            knobs={"pick": "index"},
            wrong="target = r + gamma * (1 - done) * next_q.argmax(1)",
            right=_RIGHT,
            harm="The target is a constant that has nothing to do with what follows.",
            fix="use max, or the first of the two that torch.max returns",
        ),
        Mistake(
            "VAL113", "dqn-target-next-action-taken",
            "The next state is valued by the action taken in the state before.",
            knobs={"pick": "taken"},
            wrong="target = r + gamma * (1 - done) * next_q[rows, actions]",
            right=_RIGHT,
            harm="The agent learns what follows if it repeats its action.",
            fix="take the maximum over actions of the next state",
        ),
        Mistake(
            "VAL114", "dqn-target-broadcast", "Shapes (N, 1) and (N,) are mixed: N × N targets come out, not N.",
            knobs=BROADCASTS,
            wrong="target = r.view(-1, 1) + gamma * (1 - done).view(-1, 1) * next_q.max(1).values",
            right=_RIGHT,
            harm="Every prediction is pulled towards the mean of the whole batch.",
            fix="give all three the same shape",
            seen_in="hungtuchen/pytorch-dqn issue #3",
        ),
        Mistake(
            "VAL115", "dqn-target-reward-missing", "The reward is left out.",
            knobs={"reward": 0.0},
            wrong="target = gamma * (1 - done) * next_q.max(1).values",
            right=_RIGHT,
            harm="All values shrink to zero.",
            fix="add the reward",
        ),
        Mistake(
            "VAL116", "dqn-target-mask-on-reward", "The reward of a terminal step is dropped with the bootstrap.",
            knobs={"masks_reward": True},
            wrong="target = (r + gamma * next_q.max(1).values) * (1 - done)",
            right=_RIGHT,
            harm="The reward for reaching the end is never seen; where that is the only one, nothing is learnt.",
            fix="mask the bootstrap alone",
            seen_in="thu-ml/tianshou issue #135",
        ),
        Mistake(
            "VAL117", "dqn-target-clipped", "The target is clipped to [−1, 1]; only the reward or error may be.",
            knobs={"target_clip": True},
            wrong="target = (r + gamma * (1 - done) * next_q).clamp(-1, 1)",
            right=_RIGHT,
            harm="No state can be worth more than one reward.",
            fix="clip the rewards or use a Huber loss; leave the target alone",
        ),
        Mistake(
            "VAL118", "dqn-target-gamma-not-to-the-n", "The bootstrap after n steps is not discounted by γⁿ.",
            knobs=({"n_power": "one"}, {"n_power": "times"}),
            wrong="target = n_step_reward + gamma * (1 - done) * next_q.max(1).values",
            right="target = n_step_reward + gamma ** n * (1 - done) * next_q.max(1).values",
            harm=_HARM,
            fix="raise γ to the number of steps that were summed",
            seen_in="younggyoseo/FastTD3 issue #6",
        ),
        Mistake(
            "VAL119", "dqn-target-reward-discounted", "The reward is discounted along with the next value.",
            knobs={"reward_gamma": 1},
            wrong="target = gamma * (r + (1 - done) * next_q.max(1).values)",
            right=_RIGHT,
            harm="All values come out smaller by the factor γ.",
            fix="multiply the next value alone by γ",
        ),
        Mistake(
            "VAL120", "dqn-target-sign-flipped", "The next value is subtracted from the reward.",
            knobs={"sign": -1.0},
            wrong="target = r - gamma * (1 - done) * next_q.max(1).values",
            right=_RIGHT,
            harm="Good successors make a state look bad.",
            fix="add the bootstrap",
        ),
    ),
)  # fmt: skip
