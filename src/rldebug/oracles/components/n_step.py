"""n-step returns: over a rollout, and over one window of a replay buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rldebug.oracles.material import steps
from rldebug.oracles.material.n_step_mistakes import MISTAKES
from rldebug.oracles.material.steps import (
    AFTER,
    ANY_FLAG,
    EPISODE_END,
    FLAGS,
    GAMMA_NAME,
    REWARD,
    VALUES,
    draw_steps,
    flags_of,
    ladder,
    rebuild,
)
from rldebug.oracles.oracle import Array, Case, Oracle, Output, Quantity, Style, Values


def reference(case: Case) -> Values:
    gamma, n = case["gamma"], int(case["n"])
    length, envs = case["reward"].shape
    target, reward = np.zeros((length, envs)), np.zeros((length, envs))
    first: dict[str, Array] = {name: np.zeros(envs) for name in ("window_discount", "window_done", "window_next_obs")}
    for b in range(envs):
        for t in range(length):
            weight, k = 1.0, t
            while True:
                reward[t, b] += weight * case["reward"][k, b]
                weight *= gamma
                if case["done"][k, b] or k == length - 1 or k == t + n - 1:
                    break
                k += 1
            ended = case["terminated"][k, b]
            target[t, b] = reward[t, b] + (0.0 if ended else weight * case["next_value"][k, b])
            if t == 0:
                first["window_discount"][b], first["window_done"][b] = weight, float(ended)
                first["window_next_obs"][b] = case["next_obs"][k, b]
    return _outputs(case, target, reward, first)


def _outputs(case: Case, target: Array, reward: Array, first: dict[str, Array], *, numbers: bool = False) -> Values:
    windows = max(len(target) - int(case["n"]) + 1, 0)
    hidden = np.nan if case.given.get("one_window") else 0.0  # told the length of a window, it is about one
    window = {"window_target": target[0], "window_reward": reward[0], **first}
    if numbers and target.shape[1] == 1:
        window = {name: each[0] for name, each in window.items()}
    return {
        "target": target + hidden, "reward": reward + hidden,
        "full_target": target[:windows] + hidden, "full_reward": reward[:windows] + hidden, **window,
    }  # fmt: skip


def variant(
    case: Case,
    *,
    cut: str = "done",  # what stops the window
    reward_cut: bool = True,  # whether that stops the rewards too
    mask: str = "any",  # which steps' flags stop the bootstrap: any of the window, the last one's, none
    flag: str = "terminated",
    shift: int = 0,  # flags of so many steps later
    beyond: float | str = 0.0,
    bootstrap: str = "used",  # from where the rewards stop, or from the far end of the window
    value_shift: int = 0,  # the value of so many steps later
    tail: str = "value",  # what follows the rollout: value, zero, zero-if-short, same
    power: str = "used",  # of γ at the bootstrap: used, n, one, none, less, more
    reward_power: int | str = 1,  # once: γ, not γ^k, for all but the first
    reward_order: str = "forward",
    reward_kept: str = "always",  # or unless-done
    extra: int = 0,  # so many rewards more than n
    longer: int = 0,  # n is taken for so many more
    limit: str = "n",  # or one, none
    numbers: bool = False,  # for one environment, numbers and not arrays of one
) -> Values:
    gamma, told_n = case["gamma"], int(case["n"])
    length, envs = case["reward"].shape
    n = {"n": max(told_n + longer, 1), "one": 1, "none": length}[limit]
    known = flags_of(case, shift, beyond)
    rewards = case["reward"] * (1.0 - known["done"]) if reward_kept == "unless-done" else case["reward"]
    target, reward = np.zeros((length, envs)), np.zeros((length, envs))
    first: dict[str, Array] = {name: np.zeros(envs) for name in ("window_discount", "window_done", "window_next_obs")}
    for b in range(envs):
        for t in range(length):
            far = min(t + n, length) - 1
            used = _until(known[cut][:, b], t, far)
            summed = used if used < far and reward_cut else max(min(far + extra, length - 1), t - 1)
            later = np.arange(summed - t + 1)
            weights = gamma ** (np.minimum(later, 1) if reward_power == "once" else int(reward_power) * later)
            weights = weights[::-1] if reward_order == "backward" else weights
            reward[t, b] = (weights * rewards[t : summed + 1, b]).sum()
            last = used if bootstrap == "used" else far
            stopped = {
                "any": known[flag][t : last + 1, b].max(), "last": known[flag][last, b], "none": 0.0
            }[mask]  # fmt: skip
            count = last - t + 1
            weight = gamma ** {"used": count, "n": n, "one": 1, "none": 0, "less": count - 1, "more": count + 1}[power]
            worth = _worth(case, last, b, value_shift, tail, short=count < n)
            target[t, b] = reward[t, b] + weight * (1.0 - stopped) * worth
            if t == 0:
                first["window_discount"][b], first["window_done"][b] = weight, stopped
                first["window_next_obs"][b] = case["next_obs"][last, b]
    return _outputs(case, target, reward, first, numbers=numbers)


def _until(cut: Array, first: int, far: int) -> int:
    return next((k for k in range(first, far + 1) if cut[k]), far)


def _worth(case: Case, last: int, b: int, value_shift: int, tail: str, *, short: bool) -> float:
    end = len(case["reward"]) - 1
    if value_shift < 0:
        return float(case["value"][last, b])
    if value_shift > 0:
        return float(case["next_value"][min(last + 1, end), b])
    if last == end and not case["done"][last, b]:
        if tail == "zero" or (tail == "zero-if-short" and short):
            return 0.0
        if tail == "same":
            return float(case["value"][end, b])
    return float(case["next_value"][last, b])


def _observations(length: int, envs: int) -> Array:
    """Of what the steps led to: numbers that are all different."""
    return np.asarray(10.0 * np.arange(1, length + 1)[:, None] + np.arange(envs))


def cases() -> list[Case]:
    more: dict[str, Any] = {"n": lambda length, envs: min(2, length), "next_obs": _observations}
    upper: dict[str, Any] = {"next_obs": _observations(4, 1)}
    three = {**upper, "n": 3}
    return [
        *ladder(**more),
        steps.steps("three steps, n = 1", [1, 2, 3], terminated=[0, 1, 0], n=1, next_obs=_observations(3, 1)),
        steps.steps("three steps, n = 3", [1, 2, 3], n=3, next_obs=_observations(3, 1)),
        steps.steps("three steps, n = 3, the second terminates", [1, 2, 3], terminated=[0, 1, 0], n=3,
                    next_obs=_observations(3, 1)),
        steps.steps("four steps, n = 2", [1, -2, 3, 4], n=2, **upper),
        steps.steps("four steps, n = 3", [1, -2, 3, 4], **three),
        steps.steps("four steps, n = 3, the last terminates", [1, -2, 3, 4], terminated=[0, 0, 0, 1], **three),
        steps.steps("four steps, n = 3, two terminate", [1, -2, 3, 4], terminated=[0, 1, 0, 1], **three),
        steps.steps("four steps, n = 3, the second is cut off", [1, -2, 3, 4], truncated=[0, 1, 0, 0], **three),
        steps.steps("two steps, n = 3", [1, 2], n=3, next_obs=_observations(2, 1), edge=True),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    case = draw_steps(draw, next_obs=_observations)
    return case.but(n=draw(st.integers(1, len(case["reward"]))))


# ── what functions take ─────────────────────────────────────────────────────────────────────────────────────────────


class Transition(tuple[Any, ...]):
    """(obs, action, reward, next_obs, done), also by any of the names these go by."""

    _NAMES = (
        "obs state observation s",
        "action act a",
        "reward rew r",
        "next_obs next_state next_observation s_",
        "done d terminal",
    )

    @classmethod
    def place(cls, name: str) -> int | None:
        return next((place for place, names in enumerate(cls._NAMES) if name in names.split()), None)

    def __getattr__(self, name: str) -> Any:
        place = self.place(name)
        if place is None:
            raise AttributeError(name)
        return tuple.__getitem__(self, place)

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else super().__getitem__(key)


def _transitions(case: Case) -> list[Transition]:
    columns = [case[name][:, 0].tolist() for name in ("reward", "next_obs", "done")]
    return [
        Transition((next_obs - 10.0, 0, reward, next_obs, bool(done)))
        for reward, next_obs, done in zip(*columns, strict=True)
    ]


def _indices(case: Case) -> Array:
    """As Tianshou's buffers count on: the index stays where an episode, or the buffer, ends."""
    length = len(case["reward"])
    stays = case["done"][:, 0] | (np.arange(length) == length - 1)
    rows = [np.arange(length)]
    for _ in range(int(case["n"]) - 1):
        rows.append(np.where(stays[rows[-1]], rows[-1], rows[-1] + 1))
    return np.stack(rows)


def _after_n(case: Case) -> Array:
    return np.asarray((case["next_value"] * ~case["terminated"])[_indices(case)[-1]])


def _ends(case: Case) -> Array:
    ends = case["done"].copy()
    ends[-1] = True
    return np.asarray(ends)


def _full(case: Case) -> Array:
    return np.asarray(case["reward"][: max(len(case["reward"]) - int(case["n"]) + 1, 0)])


_N = "n n_step nstep n_return n_steps_return multi_step multistep td_steps n_td lookahead num_n step_num"
_STEPS = "n_steps num_steps nsteps n_step steps num_n_steps"
_ONE = frozenset({"transitions", "stacked_indices"})  # of one environment only

OWN = (
    Quantity("n", f"{_N} {_STEPS}", meaning="n"),
    Quantity("rollout_length", _STEPS, None, "object", of=lambda case: len(case["reward"]), meaning="number of steps"),
    Quantity("window_length", _N, None, "object", of=lambda case: len(case["reward"]), meaning="length of the window"),
    Quantity("next_obs", "next_obs next_state next_states next_observation next_observations obs_next obs2 s2 new_obs",
             "TB", meaning="what the step led to"),
    Quantity("transitions", "n_step_buffer nstep_buffer n_step_queue transitions buffer multi_step_buffer window deque",
             None, of=_transitions, meaning="(obs, action, reward, next_obs, done) of each step"),
    Quantity("stacked_indices", "stacked_indices_NI stacked_indices indices", None, of=_indices,
             with_=("next_value_masked",), meaning="for each of n steps, where it is in the buffer"),
    Quantity("next_value_masked", "target_q_IA target_q target_qs", None, of=_after_n,
             with_=("stacked_indices",), meaning="value n steps ahead, 0 where the episode terminated"),
    Quantity("done", "end_flag_B end_flag", "TB", "flag", of=_ends, with_=("stacked_indices",),
             meaning="whether the episode or the buffer ends with the step"),
)  # fmt: skip


def observe(given: Mapping[str, Any], returned: Any) -> Values | None:
    """Of a list of transitions people make one: its reward, what it led to, and whether that ended the episode."""
    if "transitions" not in given:
        return None
    if isinstance(returned, Mapping):
        named = {place: value for key, value in returned.items() if (place := Transition.place(str(key))) is not None}
    elif isinstance(returned, (tuple, list)) and len(returned) in (3, 5):
        named = dict(zip(range(5 - len(returned), 5), returned, strict=True))
    else:
        return None
    names = {2: "window_reward", 3: "window_next_obs", 4: "window_done"}
    return {name: np.asarray(named[place], dtype=np.float64) for place, name in names.items() if place in named} or None


def told(case: Case, bound: frozenset[str]) -> Case:
    """Without an n of its own, a function takes all steps it is given for the window."""
    if bound & AFTER or "value" in bound:
        case = steps.told(case, bound)
    has_own = isinstance(case["n"], float) and case["n"] >= 1.0  # a constant in its module
    if "n" not in bound and not has_own:
        case = case.but(n=len(case["reward"]), one_window=bool(bound & {"window_length", "transitions"}))
    return case


def fair(case: Case, bound: frozenset[str]) -> bool:
    if bound & _ONE and case["reward"].shape[1] > 1:
        return False
    if "transitions" in bound:
        return not case["truncated"].any()
    if bound & (AFTER | {"value"}):
        return steps.fair(case, bound)
    if case["done"].any() and not bound & ANY_FLAG:
        return False
    return not case["truncated"].any() or any(pair <= bound for pair in steps.TWO_FLAGS)


def remarks(bound: frozenset[str]) -> list[str]:
    if "transitions" in bound or not bound & (AFTER | {"value"}):
        return []
    said = steps.remarks(bound)
    if "n" not in bound:
        said.append("it takes no n: each return runs to the end of what it is given")
    return said


_VALUES = tuple(
    replace(each, names=each.names + " v_t next_q next_q_values q_next next_qs target_values")
    if each.name == "next_value"
    else replace(each, names=each.names + " next_q target_q v_n value_n n_step_value tail_value next_target")
    if each.name == "last_value"
    else each
    for each in VALUES
)

N_STEP = Oracle(
    name="n-step",
    aliases="n-step-return n-step-returns nstep nstep-return n-step-target multi-step",
    code="DIS120",
    summary="n-step returns: n discounted rewards and γ^n times the value after them, less where an episode ends "
    "before.",
    formula="G_t = Σ_{k<m} γ^k r_{t+k} + γ^m (1 − terminated) V(s_{t+m}),  m = n, or fewer where an episode or "
    "the rollout ends",
    example="def n_step_returns(rewards, values, dones, last_value, gamma, n)",
    references="Sutton and Barto, *Reinforcement Learning*, chapter 7.",
    quantities=(
        REWARD, *OWN, EPISODE_END, *_VALUES, *FLAGS, GAMMA_NAME,
        Quantity("full windows", "", "WB", of=_full, with_=("never",)),  # for the length of that axis
    ),
    outputs=(
        Output("target", "target targets return returns ret rets n_step_return n_step_returns g y", "TB"),
        Output("window_reward", "window_reward n_step_reward", "B"),
        Output("window_next_obs", "window_next_obs", "B"),
        Output("window_done", "window_done", "B"),
        Output("window_target", "", "B"),
        Output("window_discount", "n_step_discount", "B"),
        Output("full_target", "", "WB"),
        Output("reward", "n_step_rewards", "TB"),
        Output("full_reward", "", "WB"),
    ),
    required=("reward|transitions",),
    columns=("reward", "next_value", "terminated", "truncated"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    observe=observe,
    told=told,
    remarks=remarks,
    rebuild=lambda given: rebuild(given).but(n=given.get("n", len(given["reward"]))),
    styles=(Style("usual"), Style("one window, as numbers", {"numbers": True})),
    mistakes=MISTAKES,
)  # fmt: skip
