"""TD(0): the one-step target and its error, for rows of transitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from rldebug.oracles.layout import OVER_ROWS
from rldebug.oracles.material.steps import FLAGS, GAMMA, GAMMA_NAME, REWARD, VALUES
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Values, flags, floats


def reference(case: Case) -> Values:
    rows = len(case["reward"])
    target = np.zeros(rows)
    for i in range(rows):
        target[i] = case["reward"][i]
        if not case["terminated"][i]:
            target[i] += case["gamma"] * case["next_value"][i]
    return {"target": target, "error": target - case["value"]}


def variant(
    case: Case,
    *,
    mask: str = "terminated",  # what stops the bootstrap: terminated, done, truncated, nothing, inverted
    gamma_power: int = 1,
    bootstrap: str = "next",  # or same
    masked: str = "",  # what else the mask stops: reward, error
    discounted: str = "",  # what else is multiplied by γ: reward, value, masked-value
    reward: float = 1.0,
    sign: float = 1.0,
    across: str = "",  # which one is a column while the others are rows: reward, bootstrap, target, value, network
) -> Values:
    gamma = case["gamma"] ** gamma_power
    stops: dict[str, Array] = {name: case[name].astype(float) for name in ("terminated", "done", "truncated")}
    stops |= {"nothing": np.zeros(len(case["reward"])), "inverted": 1.0 - stops["done"]}
    alive = 1.0 - stops[mask]
    worth = gamma * alive * case["next_value" if bootstrap == "next" else "value"]
    earned, value = reward * case["reward"], case["value"]
    earned = earned * alive if masked == "reward" else earned
    earned = earned * gamma if discounted == "reward" else earned
    if discounted == "value":
        value = value * gamma
    elif discounted == "masked-value":
        value = value * gamma * alive
    across = across if len(earned) > 1 else ""  # a single row has none to be crossed with
    if across == "network":  # what a network gives is a column, rewards and flags are not
        worth = gamma * alive * case["next_value" if bootstrap == "next" else "value"][:, None]
        value = value[:, None]
    elif across == "reward":
        earned, value = earned[:, None], value[:, None]
    elif across == "bootstrap":
        worth, value = worth[:, None], value[:, None]
    target = earned + worth
    if across == "target":
        error = target[:, None] - value
    elif across == "value":
        error = target - value[:, None]
    else:
        error = target - value
    error = error * alive if masked == "error" else error
    return {"target": target, "error": sign * error}


def rows(
    name: str,
    reward: Any,
    *,
    terminated: Any = None,
    truncated: Any = None,
    gamma: float = GAMMA,
    edge: bool = False,
    next_value: Any = None,
    value: Any = None,
) -> Case:
    """Transitions. Values count up from 4; what an end led to is worth 9 and more."""
    length = len(reward)
    ended = flags(np.zeros(length) if terminated is None else terminated)
    cut = flags(np.zeros(length) if truncated is None else truncated)
    values = 4.0 + np.arange(length + 1) if value is None else floats(value)
    follows = np.where(ended | cut, 9.0 + 2.0 * np.arange(length), values[1:]) if next_value is None else next_value
    return Case(
        name,
        {
            "reward": floats(reward), "value": values[:-1], "value_after": values[-1], "next_value": floats(follows),
            "terminated": ended, "truncated": cut, "done": ended | cut, "gamma": gamma,
        },
        edge=edge,
    )  # fmt: skip


def cases() -> list[Case]:
    return [
        rows("one transition", [1], edge=True),
        rows("one transition that terminates", [1], terminated=[1], edge=True),
        rows("two transitions", [1, 2]),
        rows("two transitions, the first terminates", [1, 2], terminated=[1, 0]),
        rows("three transitions, the second terminates", [1, 2, -3], terminated=[0, 1, 0]),
        rows("one transition that is cut off", [3], truncated=[1], edge=True),
        rows("two transitions, the second is cut off", [1, 2], truncated=[0, 1]),
        rows("three transitions, one cut off and one that terminates", [1, 2, 3], terminated=[1, 0, 0],
             truncated=[0, 1, 0]),
        rows("four transitions", [1, 0, -2, 5], terminated=[0, 1, 0, 1]),
        rows("γ = 1", [1, 2], terminated=[0, 1], gamma=1.0),
        rows("γ = 0", [1, 2], terminated=[1, 0], gamma=0.0, edge=True),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    length = draw(st.integers(1, 5))
    flag = arrays.arrays(np.bool_, length)
    ended = draw(flag)
    return rows(
        "drawn at random",
        draw(arrays.arrays(np.int64, length, elements=st.integers(-4, 4))),
        terminated=ended,
        truncated=draw(flag) & ~ended,
        gamma=draw(st.sampled_from([0.5, 0.9, 1.0])),
        value=draw(arrays.arrays(np.int64, length + 1, elements=st.integers(-4, 4))),
        next_value=draw(arrays.arrays(np.int64, length, elements=st.integers(-4, 4))),
    )


def fair(case: Case, bound: frozenset[str]) -> bool:
    if case["done"].any() and not bound & {"done", "terminated", "mask", "discount", "next_value_masked"}:
        return False
    if case["truncated"].any() and not bound & {"terminated", "discount", "next_value_masked"}:
        return bool("truncated" in bound and bound & {"done", "mask"} and bound & {"next_value", "critic", "table"})
    return not (case["truncated"].any() and bound & _IN_A_ROW)


def told(case: Case, bound: frozenset[str]) -> Case:
    """From T+1 values, the next one can only be that which follows."""
    return case.but(next_value=_and_next(case)[1:]) if bound & _IN_A_ROW else case


def remarks(bound: frozenset[str]) -> list[str]:
    if not bound & {"done", "terminated", "mask", "discount", "next_value_masked"}:
        return ["it takes no flag for the end of an episode: the caller has to set the next value to 0 there"]
    if not bound & {"terminated", "discount", "next_value_masked"} and "truncated" not in bound:
        return ["it takes one flag: hand over terminated, not terminated or truncated, or time limits count as ends"]
    return []


class Critic(torch.nn.Module):
    """V by a table: an observation is a number that says which row it is of."""

    def __init__(self, value: Array, next_value: Array, *, column: bool) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(np.concatenate([value, next_value]), dtype=torch.float32))
        self.column = column

    def forward(self, observations: Any) -> torch.Tensor:
        rows = torch.as_tensor(np.asarray(observations), dtype=torch.float32).reshape(-1).round().long()
        found = self.table[rows]
        return found[:, None] if self.column else found


def _critic(column: bool) -> Callable[[Case], Critic]:
    return lambda case: Critic(case["value"], case["next_value"], column=column)


_NETS = "critic value_net value_network value_fn value_function v_net vf value_model critic_net net model v baseline"
_OBS = "obs observation observations state states s o obs_t s_t current_state"
_NEXT_OBS = (
    "next_obs next_observation next_observations next_state next_states s_next s2 o2 obs2 next_s new_state sp s_prime "
    "obs_next"
)

NETWORKS = (
    Quantity("critic", _NETS, None, of=_critic(True), with_=("obs", "next_obs"),
             meaning="network for V, of shape (N, 1)"),
    Quantity("critic", _NETS, None, of=_critic(False), with_=("obs", "next_obs"),
             meaning="network for V, of shape (N,)"),
    Quantity("obs", _OBS, "ND", of=lambda case: np.arange(len(case["reward"]), dtype=float)[:, None], meaning="s"),
    Quantity("next_obs", _NEXT_OBS, "ND",
             of=lambda case: len(case["reward"]) + np.arange(len(case["reward"]), dtype=float)[:, None], meaning="s'"),
    Quantity("table", "v values value_table v_table table value_function", None, with_=("state", "next_state"),
             of=lambda case: np.concatenate([case["value"], case["next_value"]]), meaning="table of V, by state"),
    Quantity("state", _OBS, "N", "int", of=lambda case: np.arange(len(case["reward"])), with_=("table",), meaning="s"),
    Quantity("next_state", _NEXT_OBS, "N", "int", with_=("table",),
             of=lambda case: len(case["reward"]) + np.arange(len(case["reward"])), meaning="s'"),
)  # fmt: skip


def _and_next(case: Case) -> Array:
    return np.append(case["value"], case["value_after"])


def _in_rows(names: set[str]) -> tuple[Quantity, ...]:
    return tuple(replace(each, axes="N") for each in (REWARD, *FLAGS, *VALUES) if each.name in names)


_VALUE = next(each for each in VALUES if each.name == "value").names
_NEXT = next(each for each in VALUES if each.name == "next_value").names
_LAST = next(each for each in VALUES if each.name == "last_value").names
_IN_A_ROW = frozenset({"value_and_next", "last_value"})

TD = Oracle(
    name="td",
    aliases="td0 td-0 td-target td-error td-errors one-step-td temporal-difference bellman-target bellman-error",
    code="DIS140",
    summary="TD(0): the reward and the discounted value of the next state, nothing of it where the step terminated.",
    formula="y = r + γ (1 − terminated) V(s'),  δ = y − V(s)",
    example="def td_error(reward, value, next_value, terminated, gamma)",
    references="Sutton and Barto, *Reinforcement Learning*, chapter 6.",
    quantities=(
        *_in_rows({"reward", "done", "terminated", "truncated", "mask", "discount", "next_value_masked"}),
        Quantity("value", _VALUE + " q q_value q_values current_q q_pred q_s v_current state_action_values qs q_sa "
                 "pred", "N", meaning="V(s)"),
        Quantity("next_value", _NEXT + " v_prime v_s_prime v_sp next_q next_qs next_q_value next_q_values q_next "
                 "target_q target_q_values target_value target_values next_max_q max_next_q next_max vf_next bootstrap "
                 "bootstrap_value v_s_ v_target next_target_value next_state_q v_next_state v_t vp v1 v_", "N",
                 meaning="V(s')"),
        Quantity("last_value", f"{_LAST} {_NEXT}", None, of=lambda case: float(case["value_after"]), with_=("value",),
                 reserve=True, meaning="V of the observation after the last step"),
        Quantity("value_and_next", _VALUE, "U", of=_and_next, reserve=True, without=("next_value", "next_value_masked"),
                 meaning="V(s_0) … V(s_T), with that of the observation after the last step"),
        *NETWORKS,
        GAMMA_NAME,
    ),
    outputs=(
        Output("target", "target targets td_target td_targets y ys expected expected_values "
               "returns return backup", "N"),
        Output("error", "error errors td_error td_errors delta deltas td advantage advantages adv", "N"),
    ),
    required=("reward", "next_value|next_value_masked|value_and_next|last_value|critic|table"),
    columns=("reward", "value", "next_value", "terminated", "truncated"),
    layouts=OVER_ROWS,
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    mistakes=(
        Mistake(
            "DIS141", "td-mask-missing", "The next state's value is added after a terminal step too.",
            knobs={"mask": "nothing"},
            wrong="y = r + gamma * v_next",
            right="y = r + gamma * (1 - terminated) * v_next",
            harm="Values grow towards r / (1 − γ), as if no episode ever ended.",
            fix="multiply V(s') by 1 − terminated",
            fine="Where the caller sets the next values to 0 at terminal steps: say `--map next_value_masked=NAME`.",
            seen_in="FlowSs/RLMutation (MTS); drlinter DQN_Missing_terminal_state.py",
        ),
        Mistake(
            "DIS142", "td-mask-inverted", "The next state's value is used only where the episode ended.",
            knobs={"mask": "inverted"},
            wrong="y = r + gamma * done * v_next",
            right="y = r + gamma * (1 - done) * v_next",
            harm="Nothing is learned beyond the immediate reward, and ends are credited with another episode.",
            fix="multiply by 1 − terminated",
        ),
        Mistake(
            "DIS143", "td-truncation-as-termination", "A step that was cut off is treated as one that terminated.",
            knobs={"mask": "done"},
            wrong="y = r + gamma * (1 - (terminated | truncated)) * v_next",
            right="y = r + gamma * (1 - terminated) * v_next",
            harm="What follows a time limit counts as worth nothing; values near the limit are too low.",
            fix="mask the bootstrap with terminated alone",
        ),
        Mistake(
            "DIS144", "td-masked-by-truncation", "The bootstrap stops where the step was cut off, not where it ended.",
            knobs={"mask": "truncated"},
            wrong="y = r + gamma * (1 - truncated) * v_next",
            right="y = r + gamma * (1 - terminated) * v_next",
            harm="Terminal states are worth something, and those at a time limit nothing.",
            fix="use the third value that env.step returns, terminated, not the fourth",
        ),
        Mistake(
            "DIS145", "td-gamma-missing", "The next value is not discounted.",
            knobs={"gamma_power": 0},
            wrong="y = r + (1 - terminated) * v_next",
            right="y = r + gamma * (1 - terminated) * v_next",
            harm="The discount setting has no effect; values grow without bound where episodes are long.",
            fix="multiply V(s') by γ",
            seen_in="FlowSs/RLMutation (NDF)",
        ),
        Mistake(
            "DIS146", "td-gamma-twice", "The discount is multiplied in twice.",
            knobs={"gamma_power": 2},
            wrong="y = r + gamma * (gamma * v_next)",
            right="y = r + gamma * v_next",
            harm="The agent plans less far ahead than it was told to.",
            fix="multiply by γ once",
        ),
        Mistake(
            "DIS147", "td-reward-discounted", "The reward is discounted as well as the next value.",
            knobs={"discounted": "reward"},
            wrong="y = gamma * (r + (1 - terminated) * v_next)",
            right="y = r + gamma * (1 - terminated) * v_next",
            harm="All values come out too small by the factor γ.",
            fix="multiply V(s') by γ, not the sum",
        ),
        Mistake(
            "DIS148", "td-reward-masked", "The reward of a terminal step is lost.",
            knobs={"masked": "reward"},
            wrong="y = (r + gamma * v_next) * (1 - terminated)",
            right="y = r + gamma * v_next * (1 - terminated)",
            harm="Where a reward comes with the end, as for a goal or a win, it is never learned.",
            fix="put the mask on V(s') alone",
            seen_in="thu-ml/tianshou issue #135",
        ),
        Mistake(
            "DIS149", "td-error-masked", "The whole error is set to 0 at terminal steps.",
            knobs={"masked": "error"},
            wrong="delta = (r + gamma * v_next - v) * (1 - terminated)",
            right="delta = r + gamma * v_next * (1 - terminated) - v",
            harm="Values of last states are never learned, and everything is built upon them.",
            fix="put the mask on V(s') alone",
        ),
        Mistake(
            "DIS150", "td-bootstraps-from-same-state", "V(s) is used where V(s') belongs.",
            knobs={"bootstrap": "same"},
            wrong="y = r + gamma * v",
            right="y = r + gamma * v_next",
            harm="Every state is worth r / (1 − γ), whatever follows it.",
            fix="use the value of the next observation",
        ),
        Mistake(
            "DIS151", "td-sign-flipped", "The error has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="delta = v - (r + gamma * v_next)",
            right="delta = r + gamma * v_next - v",
            harm="As an advantage, it makes the policy do what works worst; as a step, values move away from the "
            "target.",
            fix="swap the operands of the difference",
            fine="Where only its square is used.",
        ),
        Mistake(
            "DIS152", "td-value-discounted", "γ is multiplied into V(s) too.",
            knobs=({"discounted": "value"}, {"discounted": "masked-value"}),
            wrong="delta = r + gamma * (v_next - v)",
            right="delta = r + gamma * v_next - v",
            harm="Values settle where γ V(s) is right, not V(s).",
            fix="put the bracket around V(s') only",
        ),
        Mistake(
            "DIS153", "td-reward-missing", "The reward is not added.",
            knobs={"reward": 0.0},
            wrong="y = gamma * v_next * (1 - terminated)",
            right="y = r + gamma * v_next * (1 - terminated)",
            harm="Nothing that happens ever reaches the values.",
            fix="add the reward of the step",
        ),
        Mistake(
            "DIS154", "td-rows-crossed", "A column and a row are combined: every row with every other one.",
            knobs=({"across": "reward"}, {"across": "bootstrap"}, {"across": "target"}, {"across": "value"},
                   {"across": "network"}),
            wrong="y = reward.unsqueeze(1) + gamma * v_next  # (N, 1) + (N,) is (N, N)",
            right="y = reward + gamma * v_next",
            harm="Each value is pulled towards the mean of the batch's targets: values of all states become alike.",
            fix="bring both to the same shape before they are combined",
        ),
    ),
)  # fmt: skip
