"""What oracles over time share: cases made of steps, what their arguments are called, and when a case is fair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rldebug.oracles.oracle import Array, Case, Quantity, flags, floats

GAMMA, LAM = 0.5, 0.8  # easy to follow by hand, and different, so that one in place of the other shows


def steps(
    name: str,
    reward: Sequence[Any],
    *,
    terminated: Sequence[Any] | None = None,
    truncated: Sequence[Any] | None = None,
    gamma: float = GAMMA,
    lam: float = LAM,
    edge: bool = False,
    **more: Any,
) -> Case:
    """A rollout. `reward` is one list per step for several environments, or one number per step for one.

    Values are made up: V(s_t) counts up from 4, and what an end led to is worth 9 and more, unlike what follows it.
    """
    rewards = _column(floats(reward))
    length, envs = rewards.shape
    nothing = np.zeros((length, envs), dtype=bool)
    ended = nothing if terminated is None else _column(flags(terminated))
    cut = nothing if truncated is None else _column(flags(truncated))
    value = 4.0 + np.arange(length)[:, None] + 0.5 * np.arange(envs)
    return made(
        Case(
            name,
            {
                "reward": rewards,
                "value": value,
                "terminated": ended,
                "truncated": cut,
                "last_value": 6.0 + length + 0.5 * np.arange(envs),  # not the next in the row: δ would often be 0
                "final_value": 9.0 + 2.0 * np.arange(length)[:, None] + 0.25 * np.arange(envs),
                "gamma": gamma,
                "lam": lam,
                **more,
            },
            edge=edge,
        )
    )


def made(case: Case) -> Case:
    """With what follows from the rest: the value of what each step led to, and whether it ended an episode."""
    done = case["terminated"] | case["truncated"]
    following = np.concatenate([case["value"][1:], case["last_value"][None]])
    next_value = np.where(done, case["final_value"], following)
    # Where a rollout ends with an episode, the last value is that of the observation the episode ended with.
    return case.but(done=done, next_value=next_value, last_value=next_value[-1])


def ladder(**more: Any) -> list[Case]:
    """From one step up; `more` is handed on to each case as it is, or called with its number of steps and envs."""

    def case(name: str, reward: Any, **given: Any) -> Case:
        length, envs = _column(floats(reward)).shape
        extra = {key: value(length, envs) if callable(value) else value for key, value in more.items()}
        return steps(name, reward, **{**extra, **given})

    return [
        case("one step", [1], edge=True),
        case("one step that terminates", [1], terminated=[1], edge=True),
        case("two steps", [1, 2]),
        case("two steps, the last terminates", [1, 2], terminated=[0, 1]),
        case("two steps, the first terminates", [1, 2], terminated=[1, 0]),
        case("three steps", [1, 2, 3]),
        case("three steps, the second terminates", [1, 2, 3], terminated=[0, 1, 0]),
        case("three steps, the last terminates", [1, 2, 3], terminated=[0, 0, 1]),
        case("two steps, the last is cut off", [1, 2], truncated=[0, 1]),
        case("two steps, the first is cut off", [1, 2], truncated=[1, 0]),
        case("three steps, one cut off and one that terminates", [1, 2, 3], truncated=[1, 0, 0], terminated=[0, 1, 0]),
        case("four steps, two episodes end", [1, -2, 3, 4], terminated=[0, 1, 0, 1]),
        case("two environments", [[1, 5], [2, 7], [3, 6]]),
        case("two environments, one ends", [[1, 5], [2, 7], [3, 6]], terminated=[[0, 0], [0, 1], [0, 0]]),
        case(
            "two environments, each ends at another step",
            [[1, 5], [2, 7], [3, 6]],
            terminated=[[1, 0], [0, 0], [0, 1]],
        ),
        case(
            "three environments, one of them cut off",
            [[1, 5, -1], [2, 7, -3]],
            terminated=[[0, 0, 1], [0, 0, 0]],
            truncated=[[0, 1, 0], [0, 0, 0]],
        ),
        case(
            "two environments, each a whole episode",
            [[1, 5], [2, 7], [3, 6]],
            terminated=[[0, 0], [0, 0], [1, 1]],
        ),
        case("three environments, four steps", [[1, 5, -1], [2, 7, -3], [4, 0, 2], [3, 6, 1]]),
        case("γ = 1", [1, 2, 3], gamma=1.0),
    ]


def draw_steps(draw: Callable[[Any], Any], **more: Any) -> Case:
    """With Hypothesis: up to six steps of up to three environments. `more` as in `ladder`."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    # What ends is drawn first: many functions are only judged on whole episodes, or on what has no end.
    ending = draw(st.sampled_from(["nothing", "the last step", "some steps", "some steps, cut off or not"]))
    length, envs = draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 3]))
    whole_numbers = arrays.arrays(np.int64, (length, envs), elements=st.integers(-4, 4))
    flag = arrays.arrays(np.bool_, (length, envs))
    ended = draw(flag) if ending.startswith("some") else np.zeros((length, envs), dtype=bool)
    cut = draw(flag) & ~ended if ending.endswith("not") else np.zeros((length, envs), dtype=bool)
    if ending == "the last step":
        ended[-1] = True
    extra = {key: value(length, envs) if callable(value) else value for key, value in more.items()}
    case = Case(
        "drawn at random",
        {
            "reward": floats(draw(whole_numbers)),
            "value": floats(draw(whole_numbers)),
            "final_value": floats(draw(whole_numbers)),
            "last_value": floats(draw(arrays.arrays(np.int64, envs, elements=st.integers(-4, 4)))),
            "terminated": ended,
            "truncated": cut,
            "gamma": draw(st.sampled_from([0.5, 0.9, 1.0])),
            "lam": draw(st.sampled_from([0.8, 0.95, 1.0])),
            **extra,
        },
    )
    return made(case)


def whole(case: Case) -> bool:
    """One episode from its first step to its end, in every environment."""
    return bool(case["terminated"][-1].all()) and not case["done"][:-1].any()


def shifted(values: Array, by: int, beyond: float = 0.0) -> Array:
    """Each step with what belongs to `by` steps later; `beyond` where there is no such step."""
    moved = np.full_like(values, beyond)
    if by > 0:
        moved[:-by] = values[by:]
    elif by < 0:
        moved[-by:] = values[:by]
    else:
        moved = values
    return moved


def flags_of(case: Case, shift: int = 0, beyond: float | str = 0.0) -> dict[str, Array]:
    """What may stop a bootstrap or a sum, as 0 and 1: terminated, done, nothing, everything, inverted.

    `beyond`: what stands where the shift leaves the rollout; "own": the flag of the step itself, which is right there.
    """
    made = {name: case[name].astype(float) for name in ("done", "terminated")}
    for name, each in made.items() if shift else ():
        moved = shifted(each, shift, 0.0 if isinstance(beyond, str) else beyond)
        place = -1 if shift > 0 else 0
        if isinstance(beyond, str):
            moved[place] = each[place]
        made[name] = moved
    nothing = np.zeros_like(made["done"])
    return {**made, "nothing": nothing, "everything": nothing + 1.0, "inverted": 1.0 - made["done"]}


def led_to(case: Case, kind: str) -> Array:
    """V of what each step led to, or what is mistaken for it: same, following, last-zero, last-same."""
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


# ── what arguments are called ───────────────────────────────────────────────────────────────────────────────────────

REWARD = Quantity(
    "reward", "reward rewards r rew rews rewards_t r_t rwd rwds reward_tp1", "TB", meaning="reward of the step"
)
GAMMA_NAME = Quantity("gamma", "gamma discount discount_factor g gam discount_rate reward_discount", meaning="γ")
LAM_NAME = Quantity(
    "lam", "lam lambda lmbda gae_lambda gae_lam lambda_gae td_lambda l tau lambd lamda trace_decay", meaning="λ"
)

_DONE = "done dones d terminal terminals is_done is_terminal ended dones_t over finished done_flags done_mask"
_MASK = """
    mask masks done_mask done_masks not_done not_dones notdone nonterminal non_terminal nonterminals next_non_terminal
    alive continues
"""


def _starts(case: Case) -> Array:
    """For each observation of the rollout: whether an episode began with it."""
    return np.concatenate([np.zeros_like(case["done"][:1]), case["done"][:-1]])


def _starts_and_next(case: Case) -> Array:
    return np.concatenate([np.zeros_like(case["done"][:1]), case["done"]])


FLAGS: tuple[Quantity, ...] = (
    # Whoever is told whether the last step ended an episode, is told of the steps before by the others.
    Quantity("done", _DONE, "TB", "flag", without=("next_done", "next_mask"),
             meaning="whether the step ended an episode"),
    Quantity("terminated", "terminated terminateds terminations termination term terms is_terminated", "TB", "flag",
             meaning="whether the step ended an episode for good"),
    Quantity("terminated", _DONE, "TB", "flag", with_=("truncated",),
             meaning="whether the step ended an episode for good"),
    Quantity("truncated", "truncated truncateds truncations truncation trunc truncs timeout timeouts time_limits "
             "is_truncated time_out time_outs", "TB", "flag", meaning="whether the step was cut off"),
    Quantity("mask", _MASK, "TB", "flag", of=lambda case: ~case["done"], meaning="1 unless the step ended an episode"),
    Quantity("discount", "discounts discount_t discounts_t pcontinues discount", "TB",
             of=lambda case: case["gamma"] * ~case["terminated"], meaning="γ, 0 where the step terminated"),
    Quantity("done_before", _DONE, "TB", "flag", of=_starts, with_=("next_done",),
             meaning="whether the step before ended an episode"),
    Quantity("episode_start", "episode_start episode_starts is_first firsts first starts prev_dones prev_done "
             "is_start", "TB", "flag", of=_starts, meaning="whether an episode begins with this observation"),
    Quantity("next_done", "next_done next_dones last_done last_dones next_terminal final_done next_is_done", "B",
             "flag", of=lambda case: case["done"][-1], meaning="whether the last step ended an episode"),
    Quantity("next_done", _DONE, "B", "flag", of=lambda case: case["done"][-1], with_=("episode_start",),
             meaning="whether the last step ended an episode"),
    Quantity("next_done", "done is_done terminal is_terminal d finished ended terminated", "B", "flag",
             of=lambda case: case["done"][-1], with_=("last_value",),
             meaning="whether the last step ended an episode"),
    Quantity("next_mask", "next_mask last_mask next_masks last_masks", "B", "flag",
             of=lambda case: ~case["done"][-1], meaning="1 unless the last step ended an episode"),
    Quantity("done_before_and_next", _DONE, "UB", "flag", of=_starts_and_next, reserve=True,
             meaning="for T+1 observations, whether an episode begins with it"),
    Quantity("mask_before_and_next", _MASK, "UB", "flag", of=lambda case: ~_starts_and_next(case), reserve=True,
             meaning="for T+1 observations, 0 where an episode begins with it"),
)  # fmt: skip

_VALUE = """
    value values v vs val vals state_value state_values v_s value_pred value_preds v_pred v_preds vpred vpreds
    baseline baselines critic_values v_t v_tm1 values_t state_vals value_estimates
"""
_LAST = """
    last_value last_values last_val last_vals bootstrap_value bootstrap bootstrap_values final_value
    final_values v_last last_v bootstrap_val value_last next_value next_values next_val next_v v_next
"""

VALUES: tuple[Quantity, ...] = (
    Quantity("value", _VALUE, "TB", meaning="V(s_t)"),
    Quantity("next_value", "next_value next_values next_state_value next_state_values next_val next_vals next_v v_next "
             "values_next value_next v_tp1 value_tp1 values_tp1 next_v_pred next_state_vals", "TB",
             meaning="V of the observation that the step led to"),
    Quantity("next_value_masked", "v_s_ v_s_next masked_next_values", "TB",
             of=lambda case: case["next_value"] * ~case["terminated"],
             meaning="V of the observation that the step led to, 0 where it terminated"),
    Quantity("last_value", _LAST, "B", meaning="V of the observation after the last step"),
    Quantity("value_and_last", _VALUE, "UB",
             of=lambda case: np.concatenate([case["value"], case["last_value"][None]]), reserve=True,
             meaning="V(s_0) … V(s_T), with that of the observation after the last step"),
)  # fmt: skip

# Tianshou: episodes are cut where this is set, and the values of next observations come masked.
EPISODE_END = Quantity("done", "end_flag end_flags episode_end episode_ends", "TB", "flag",
                       meaning="whether the step ended an episode")  # fmt: skip

TWO_FLAGS = (
    {"terminated", "truncated"}, {"terminated", "done"}, {"done", "truncated"}, {"discount", "done"},
    {"next_value_masked", "done"}, {"discount", "truncated"},
)  # fmt: skip
AFTER = frozenset({"next_value", "next_value_masked", "last_value", "value_and_last"})  # what follows the last step
ANY_FLAG = {"done", "terminated", "mask", "discount", "done_before", "episode_start", "done_before_and_next",
             "mask_before_and_next"}  # fmt: skip
_BEFORE = {"done_before", "episode_start"}


def fair(case: Case, bound: frozenset[str]) -> bool:
    """Whether a function that takes these can know enough to be right on this case."""
    done, truncated = case["done"], case["truncated"]
    if bound & {"next_done", "next_mask"} and not bound & ANY_FLAG:
        return not done[:-1].any() and not truncated.any()  # it is about steps of one episode
    if done.any() and not bound & ANY_FLAG:
        return whole(case) and not bound & AFTER  # told nothing, it takes what it is given for one episode
    if truncated.any() and not any(pair <= bound for pair in TWO_FLAGS):
        return False  # with one flag, a cut cannot be told from an end
    if truncated[:-1].any() and not bound & {"next_value", "next_value_masked"}:
        return False  # what the cut-off observation is worth, nobody tells it
    if not case["terminated"][-1].all() and not bound & AFTER:
        return False  # it can only be meant for whole episodes
    return not (done[-1].any() and bound & _BEFORE and not bound & {"next_done", "next_mask"})


def told(case: Case, bound: frozenset[str]) -> Case:
    """Where nobody hands over the values that steps lead to, a function can only take those that follow in the rollout.

    What is right does not change by that: where they differ, an episode ended, or the case would not be fair.
    """
    if bound & {"next_value", "next_value_masked"}:
        return case
    following = np.concatenate([case["value"][1:], np.asarray(case["last_value"])[None]])
    return case.but(next_value=following)


def remarks(bound: frozenset[str]) -> list[str]:
    said = []
    if bound & {"next_done", "next_mask"} and not bound & ANY_FLAG:
        said.append("it takes a flag for the last step only: right only where no episode ends before")
    elif not bound & ANY_FLAG:
        said.append("it takes no flag for the end of an episode: right only within one episode")
    elif not any(pair <= bound for pair in TWO_FLAGS):
        said.append(
            "it takes one flag, so it cannot tell an episode that was cut off from one that ended: unless the caller "
            "adds γ V(final observation) to the reward where an episode is cut off, what follows a time limit counts "
            "as worth nothing"
        )
    if not bound & AFTER:
        said.append("it takes no value for what follows the last step: right only for whole episodes")
    return said


def rebuild(given: Mapping[str, Any]) -> Case:
    """From what a function was given back to a case: the flags after each step, and the values they lead to."""
    reward = given["reward"]
    nothing = np.zeros(reward.shape, dtype=bool)
    done = _done(given, nothing)
    terminated = given.get("terminated")
    truncated = given.get("truncated")
    if terminated is None:
        terminated = done & ~truncated if truncated is not None else done
    if truncated is None:
        truncated = done & ~terminated
    case = {"gamma": 1.0, "lam": 1.0, **given, "reward": reward, "terminated": terminated, "truncated": truncated}
    case["done"] = terminated | truncated
    value = given.get("value", given["value_and_last"][:-1] if "value_and_last" in given else np.zeros_like(reward))
    last = given.get(
        "last_value", given["value_and_last"][-1] if "value_and_last" in given else np.zeros_like(reward[0])
    )
    follows = np.concatenate([value[1:], np.asarray(last)[None]])
    case["value"], case["last_value"] = value, last
    case["next_value"] = given.get("next_value", given.get("next_value_masked", follows))
    if "discount" in given and "gamma" not in given:
        case["gamma"] = float(given["discount"].max()) if given["discount"].size else 1.0
    return Case("from the program", case)


def _done(given: Mapping[str, Any], nothing: Array) -> Array:
    if "done" in given:
        return np.asarray(given["done"], dtype=bool)
    if "mask" in given:
        return ~np.asarray(given["mask"], dtype=bool)
    if "done_before_and_next" in given:
        return np.asarray(given["done_before_and_next"][1:], dtype=bool)
    if "mask_before_and_next" in given:
        return ~np.asarray(given["mask_before_and_next"][1:], dtype=bool)
    for name in ("done_before", "episode_start"):
        if name in given:
            last = given.get("next_done", ~given["next_mask"] if "next_mask" in given else np.zeros_like(nothing[0]))
            return np.concatenate([given[name][1:], np.asarray(last)[None]]).astype(bool)
    if "discount" in given:
        return np.asarray(given["discount"] == 0.0)
    if "terminated" in given:
        ended = np.asarray(given["terminated"], dtype=bool)
        return ended | np.asarray(given["truncated"], dtype=bool) if "truncated" in given else ended
    return nothing


def _column(values: Array) -> Array:
    return values[:, None] if values.ndim == 1 else values
