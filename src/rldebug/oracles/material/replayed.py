"""What oracles over rows of a replay batch share: what their arguments are called, and when a case is fair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rldebug.oracles.oracle import Array, Case, Quantity, flags, floats

GAMMA = 0.5  # easy to follow by hand

_DONE = (
    "done dones d terminal terminals is_done is_terminal ended done_flag done_flags done_mask finished terminal_flags "
    "is_final final episode_done next_done next_dones"
)
_MASK = (
    "mask masks not_done not_dones notdone nonterminal non_terminal nonterminals non_terminals alive continues "
    "non_final non_final_mask not_terminal nonfinal_mask done_mask done_masks undone not_terminated non_ends"
)

REWARD = Quantity(
    "reward",
    "reward rewards r rew rews rwd rwds rewards_t r_t reward_t reward_tp1 n_step_reward n_step_rewards returns "
    "n_step_returns nstep_returns",
    "N",
    meaning="reward of the step",
)
GAMMA_NAME = Quantity("gamma", "gamma discount discount_factor g gam discount_rate reward_discount", meaning="γ")
N_STEPS = Quantity(
    "n",
    "n n_step n_steps nstep nsteps multi_step multi_steps num_steps n_step_return td_steps num_n_steps",
    kind="int",
    meaning="over how many steps the reward was summed",
)

FLAGS: tuple[Quantity, ...] = (
    Quantity("done", _DONE, "N", "flag", meaning="whether the step ended an episode"),
    Quantity("terminated", "terminated terminateds terminations termination term terms is_terminated next_terminated",
             "N", "flag", meaning="whether the step ended an episode for good"),
    Quantity("terminated", _DONE, "N", "flag", with_=("truncated",),
             meaning="whether the step ended an episode for good"),
    Quantity("truncated", "truncated truncateds truncations truncation trunc truncs timeout timeouts time_limits "
             "is_truncated time_out time_outs next_truncated", "N", "flag", meaning="whether the step was cut off"),
    Quantity("mask", _MASK, "N", "flag", of=lambda case: ~case["done"], meaning="1 unless the step ended an episode"),
    Quantity("discount", "discounts discount_t discounts_t pcontinues discount bootstrap", "N",
             of=lambda case: case["gamma"] ** case.given.get("n", 1) * ~case["terminated"],
             without=("done", "terminated", "mask"), meaning="γ, 0 where the step terminated"),
    Quantity("plain_discount", "discounts discount_t discounts_t n_step_discount effective_discount", "N",
             of=lambda case: np.full(len(case["reward"]), case["gamma"] ** case.given.get("n", 1)),
             without=("n",), meaning="γ, one for each row"),
)  # fmt: skip

_ANY_FLAG = {"done", "terminated", "mask", "discount"}


def rows(
    name: str,
    reward: Sequence[float],
    *,
    terminated: Sequence[int] | None = None,
    truncated: Sequence[int] | None = None,
    gamma: float = GAMMA,
    **more: Any,
) -> Case:
    """Transitions, one row each. A case of one row is an edge: many functions squeeze the batch away there."""
    ended = flags(np.zeros(len(reward)) if terminated is None else terminated)
    cut = flags(np.zeros(len(reward)) if truncated is None else truncated)
    given = {"reward": floats(reward), "terminated": ended, "truncated": cut, "done": ended | cut, "gamma": gamma}
    return Case(name, {**given, **more}, edge=len(reward) == 1)


def fair(case: Case, bound: frozenset[str]) -> bool:
    """Whether a function that takes these can know enough to be right on this case."""
    if case["terminated"].any() and not bound & _ANY_FLAG:
        return False
    if case["truncated"].any():  # with one flag, a cut cannot be told from an end
        return bool(bound & {"terminated", "discount"}) or {"done", "truncated"} <= bound
    return True


def remarks(bound: frozenset[str]) -> list[str]:
    if not bound & _ANY_FLAG:
        return ["it takes no flag for the end of an episode: right only where no row ended one"]
    if not bound & {"terminated", "discount", "truncated"}:
        return [
            "it takes one flag: hand it terminated, not terminated or truncated, else what follows a time limit counts "
            "as worth nothing"
        ]
    return []


def outcomes(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a case that the flags given tell: for `rebuild`."""
    reward = floats(given["reward"])
    nothing = np.zeros(reward.shape, dtype=bool)
    if "discount" in given:
        terminated = floats(given["discount"]) == 0.0
    elif "terminated" in given:
        terminated = flags(given["terminated"])
    elif "mask" in given:
        terminated = ~flags(given["mask"])
    else:
        terminated = flags(given["done"]) if "done" in given else nothing
    truncated = flags(given["truncated"]) if "truncated" in given else nothing
    if "done" in given and "truncated" in given:
        terminated = terminated & ~truncated
    gamma = given.get("gamma")
    if gamma is None:
        each = floats(given.get("plain_discount", given.get("discount", [1.0])))
        gamma = float(each.max()) if each.size else 1.0
    return {
        "reward": reward,
        "terminated": terminated,
        "truncated": truncated,
        "done": terminated | truncated,
        "gamma": gamma,
        "n": int(given.get("n", 1)),
    }


def mask_of(case: Case, kind: str) -> Array:
    """What the bootstrap is multiplied by: by terminated, or by what is wrongly taken for it."""
    kept = {
        "terminated": ~case["terminated"],
        "done": ~case["done"],
        "nothing": np.ones_like(case["done"]),
        "inverted": case["terminated"],
        "inverted-done": case["done"],
    }[kind]
    return np.asarray(kept, dtype=np.float64)


def draw_rows(draw: Any, most: int = 4) -> dict[str, Any]:
    """With Hypothesis: rewards and flags of up to so many transitions."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    count = draw(st.integers(1, most))
    ended = draw(arrays.arrays(np.bool_, count))
    cut = draw(arrays.arrays(np.bool_, count)) & ~ended
    return {
        "reward": floats(draw(arrays.arrays(np.int64, count, elements=st.integers(-4, 4)))),
        "terminated": ended,
        "truncated": cut,
        "done": ended | cut,
        "gamma": draw(st.sampled_from([0.5, 0.9, 1.0])),
    }
