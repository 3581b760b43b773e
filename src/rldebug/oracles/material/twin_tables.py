"""What the oracles of SAC and TD3 share: twin critics and an actor, as arrays and as small networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from rldebug.oracles.material.replayed import draw_rows, outcomes, rows
from rldebug.oracles.oracle import Array, Case, Quantity, floats

# For three rows. Which critic is lower changes from row to row; online values lie apart from those of the targets.
NEXT_Q1, NEXT_Q2 = [4.0, 9.0, 2.5], [6.0, 5.0, 3.5]
ONLINE_Q1, ONLINE_Q2 = [7.0, 1.0, 8.0], [3.0, 6.5, 10.0]
LOGP = [-0.5, 0.75, -1.5]
# In a range of ±2. The noise of the first is clipped; that of the second takes it out of the range.
NEXT_ACTION, ONLINE_ACTION, ACTION = [1.0, 1.875, -0.5], [-0.75, 1.5, 1.25], [1.75, -0.25, -1.25]
SLOPES = (2.0, -1.0, 3.0, -4.0)  # by which the four critics change with the action
NORMALS = (-3.0, 1.0, 0.5, -0.75, 2.5, 0.25)  # what stands in for numbers drawn from a normal distribution
SIGMA = 0.25


class Critic(nn.Module):
    """Q(s, a): a number for each row, and a slope along the action, so that another action than a′ shows."""

    values: torch.Tensor
    action: torch.Tensor

    def __init__(self, values: Array, action: Array, slope: float, column: bool) -> None:
        super().__init__()
        self.register_buffer("values", torch.tensor(values, dtype=torch.float32))
        self.register_buffer("action", torch.tensor(action, dtype=torch.float32))
        self.slope, self.column = slope, column

    def forward(self, observations: Any, actions: Any = None) -> torch.Tensor:
        obs = _tensor(observations)
        if actions is None:  # both in one, as torch.cat([obs, actions], 1) makes it
            obs, act = obs[..., :-1], obs[..., -1:]
        else:
            act = _tensor(actions).reshape(*obs.shape[:-1], 1)
        if obs.shape[-1] != len(self.values):
            raise ValueError(f"observations of width {obs.shape[-1]}, expected {len(self.values)}")
        worth = obs @ self.values + self.slope * (act[..., 0] - obs @ self.action)
        return worth[..., None] if self.column else worth


class Twins(nn.Module):
    """Both critics in one, as SB3 and the authors of TD3 have them."""

    def __init__(self, first: Critic, second: Critic) -> None:
        super().__init__()
        self.q1, self.q2 = first, second
        self.critic1, self.critic2, self.qf1, self.qf2 = first, second, first, second

    def forward(self, observations: Any, actions: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        return self.q1(observations, actions), self.q2(observations, actions)


class Actor(nn.Module):
    """The action of each row, and its log-probability where it is asked for one."""

    actions: torch.Tensor
    logps: torch.Tensor | None

    def __init__(self, action: Array, logp: Array | None, column: bool, gives: int) -> None:
        super().__init__()
        self.register_buffer("actions", torch.tensor(action, dtype=torch.float32))
        self.register_buffer("logps", None if logp is None else torch.tensor(logp, dtype=torch.float32))
        self.column, self.gives = column, gives

    def forward(self, observations: Any, *_: Any, **__: Any) -> Any:
        obs = _tensor(observations)
        action = (obs @ self.actions)[..., None]
        if self.logps is None:
            return action
        logp = obs @ self.logps
        given = (action, logp[..., None] if self.column else logp)
        return given if self.gives == 2 else (*given, action)

    def get_action(self, *args: Any, **kwargs: Any) -> Any:
        return self(*args, **kwargs)

    sample = evaluate = act = get_actions = get_action_and_log_prob = sample_action = get_action

    def action_log_prob(self, observations: Any) -> Any:
        return self(observations)[:2]


class ActorCritic(nn.Module):
    """Spinning Up's `ac` and `ac_targ`."""

    def __init__(self, actor: Actor, twins: Twins) -> None:
        super().__init__()
        self.pi, self.q1, self.q2 = actor, twins.q1, twins.q2


def _tensor(value: Any) -> torch.Tensor:
    return value.float() if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value, dtype=np.float32))


def twin_case(name: str, reward: Sequence[float], *, n: int = 3, **given: Any) -> Case:
    count = len(reward)
    made = {
        "next_q1": NEXT_Q1, "next_q2": NEXT_Q2, "online_q1": ONLINE_Q1, "online_q2": ONLINE_Q2, "next_logp": LOGP,
        "next_action": NEXT_ACTION, "online_action": ONLINE_ACTION, "action": ACTION,
    }  # fmt: skip
    numbers: dict[str, Any] = {"alpha": 0.25, "policy_noise": SIGMA, "noise_clip": 0.375, "max_action": 2.0, "n": n}
    columns: dict[str, Any] = {key: floats(value)[:count] for key, value in made.items()}
    noise = np.resize(floats(NORMALS), count)
    return rows(name, reward, **columns, noise=noise, **{**numbers, **given})


def cases() -> list[Case]:
    return [
        twin_case("one row", [3]),
        twin_case("one row that terminates", [3], terminated=[1]),
        twin_case("one row that is cut off", [3], truncated=[1]),
        twin_case("one row, other coefficients", [-2], alpha=2.0, gamma=0.75, n=2),
        twin_case("two rows", [3, -2]),
        twin_case("two rows, the first terminates", [3, -2], terminated=[1, 0]),
        twin_case("three rows", [3, -2, 5]),
        twin_case("three rows, the second terminates", [3, -2, 5], terminated=[0, 1, 0]),
        twin_case("three rows, all terminate", [3, -2, 5], terminated=[1, 1, 1]),
        twin_case("three rows, the first is cut off", [3, -2, 5], truncated=[1, 0, 0]),
        twin_case("three rows, one cut off, one terminated", [3, -2, 5], truncated=[0, 1, 0], terminated=[0, 0, 1]),
        twin_case("three rows, other coefficients", [3, -2, 5], terminated=[0, 0, 1], alpha=2.0, gamma=0.75, n=2),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    given = draw_rows(draw)
    count = len(given["reward"])

    def column(by: float = 1.0) -> Array:
        return floats(draw(st.lists(st.integers(-4, 4), min_size=count, max_size=count))) * by

    names = ("next_q1", "next_q2", "online_q1", "online_q2", "next_logp")
    more: dict[str, Any] = {name: column() for name in names}
    more |= {name: column(0.5) for name in ("next_action", "online_action", "action")}
    more |= {"alpha": draw(st.sampled_from([0.25, 1.0, 2.0])), "noise": np.resize(floats(NORMALS), count)}
    more |= {"policy_noise": SIGMA, "noise_clip": draw(st.sampled_from([0.375, 0.5])), "max_action": 2.0}
    return Case("drawn at random", {**given, **more, "n": draw(st.integers(1, 3))}, edge=count == 1)


def rebuild(given: Mapping[str, Any]) -> Case:
    """From arrays; networks cannot be turned into numbers without the actions they are asked for."""
    known = outcomes(given)
    if "next_qs" in given:
        first, second = floats(given["next_qs"]).T
    elif "least_q" in given:
        first = second = floats(given["least_q"])
    else:
        first, second = floats(given["next_q1"]), floats(given["next_q2"])
    alpha = given.get("alpha", np.exp(floats(given["log_alpha"])) if "log_alpha" in given else 1.0)
    zeros = np.zeros_like(first)
    more = {"next_q1": first, "next_q2": second, "online_q1": first, "online_q2": second, "alpha": float(alpha)}
    more |= {"next_logp": floats(given.get("next_logp", zeros)), "next_action": zeros, "online_action": zeros}
    more |= {"action": zeros, "noise": zeros, "policy_noise": 0.0, "noise_clip": 1.0, "max_action": 1.0}
    return Case("from the program", {**known, **more})


# ── what arguments are called ───────────────────────────────────────────────────────────────────────────────────────


COLUMNS = (
    "target_critic1", "target_critic2", "critic1", "critic2", "target_twins", "twins", "actor", "target_actor", "pair",
    "target_pair",
)  # fmt: skip
FLAT = tuple(f"{each} flat" for each in COLUMNS)


def either(*names: str) -> str:
    """For Oracle.required: any of these, where networks may give columns or not."""
    return "|".join(each for name in names for each in ((name, f"{name} flat") if name in COLUMNS else (name,)))


CURRENT_Q, CURRENT_ACTION, CURRENT_LOGP = 3.25, -0.625, 1.25  # by how much all is different for s, beside s′


def both_states(values: Array, apart: float) -> Array:
    """For s, then for s′: a table that one-hot observations pick rows from."""
    return np.concatenate([values + apart, values])


def _critic(case: Case, which: int, column: bool) -> Critic:
    """Which: 0 and 1 are the targets, 2 and 3 the online ones."""
    values = case[("next_q1", "next_q2", "online_q1", "online_q2")[which]]
    return Critic(both_states(values, CURRENT_Q), both_states(case["next_action"], 0.0), SLOPES[which], column)


def twins_of(case: Case, first: int, column: bool) -> Twins:
    return Twins(_critic(case, first, column), _critic(case, first + 1, column))


def objects(name: str, names: str, make: Callable[[Case, bool], Any], meaning: str) -> tuple[Quantity, ...]:
    """One that gives columns (N, 1), and one, called `… flat`, that gives (N,). All networks of a reading are alike."""

    def of(column: bool) -> Callable[[Case], Any]:
        return lambda case: make(case, column)

    return (
        Quantity(name, names, None, of=of(True), without=FLAT, meaning=meaning),
        Quantity(f"{name} flat", names, None, of=of(False), without=COLUMNS, meaning=meaning),
    )


def _numbered(words: str, number: int) -> str:
    other = "ab"[number - 1]
    return " ".join(word.replace("#", str(number)) for word in words.split()) + " " + " ".join(
        word.replace("#", other) for word in words.split() if "_#" in word
    )  # fmt: skip


_TARGET_CRITIC = (
    "qf#_target q#_target target_q# target_qf# critic#_target critic_#_target target_critic# target_critic_# "
    "critic_target# critic_target_# q#_targ qf#_targ target_q_net# target_q_net_# q_net#_target q_net_#_target "
    "q_target# q_target_# target_q#_net q#_target_net target_soft_q_net# soft_q_net#_target q_#_target target_q_# "
    "target_soft_q# q#_net_target critic_#_targ target_value_net# q_critic#_target target_critic_#_net q#_t"
)
_ONLINE_CRITIC = "qf# q# critic# critic_# q_net# q_net_# soft_q_net# q#_net q_# soft_q# critic#_net q_critic#"
_NEXT_Q = (
    "next_q# q#_next qf#_next_target q#_pi_targ next_qf# q#_target_next target_q# target_next_q# q#_next_target "
    "q_next_# next_q_# next_q#_target q#_pi next_q#_values q#_target q# next_target_q# qf#_next target_q_# "
    "next_q_value# q#_tp1 q_target_next# q_targets_next# qt# next_critic# next_qvalue# min_q# next_q_target# q_t#"
)

ARRAYS: tuple[Quantity, ...] = (
    Quantity("next_q1", _numbered(_NEXT_Q, 1), "N", meaning="Q₁(s′, a′) of the target critics"),
    Quantity("next_q2", _numbered(_NEXT_Q, 2), "N", meaning="Q₂(s′, a′) of the target critics"),
    Quantity("next_qs", "next_qs next_q_values next_q q_next next_q_target next_target_q target_qs target_q_values "
             "next_target_qs q_targets next_q_pred q_next_target target_next_qs", "NC",
             of=lambda case: np.stack([case["next_q1"], case["next_q2"]], axis=1),
             meaning="Q₁ and Q₂ of (s′, a′), side by side"),
    Quantity("next_qs", "next_qs next_q_values next_q q_next next_q_target next_target_q target_qs target_q_values "
             "next_target_qs q_targets next_q_pred q_next_target target_next_qs", "CN",
             of=lambda case: np.stack([case["next_q1"], case["next_q2"]]),
             meaning="Q₁ and Q₂ of (s′, a′), one above the other"),
    Quantity("next_qs", "next_qs next_q_values next_q q_next next_q_target target_qs next_q_list q_list", None,
             of=lambda case: tuple(torch.tensor(case[n]).float()[:, None] for n in ("next_q1", "next_q2")),
             meaning="Q₁ and Q₂ of (s′, a′), as two columns"),
    Quantity("least_q", "min_next_q next_min_q min_q_next min_qf_next_target min_q next_q_min min_q_target q_min "
             "q_pi_targ target_min_q min_next_q_target next_q next_q_value q_next q_next_target min_target_q "
             "next_q_values",
             "N", of=lambda case: np.minimum(case["next_q1"], case["next_q2"]), without=("next_q1",),
             meaning="the lower of Q₁ and Q₂"),
)  # fmt: skip

_SINGLE = (
    "critic_target target_critic qf_target critic_targ target_q target_q_net q_target target_q_network q_net_target "
    "target_qf q_targ target_net critic_tgt target_network target_critic_net critic_net_target critic_old"
)

CRITICS: tuple[Quantity, ...] = (
    *(quantity for number in (1, 2) for quantity in objects(
        f"target_critic{number}", _numbered(_TARGET_CRITIC, number),
        lambda case, column, which=number - 1: _critic(case, which, column),  # type: ignore[misc]
        f"target critic {number}")),
    *(quantity for number in (1, 2) for quantity in objects(
        f"critic{number}", _numbered(_ONLINE_CRITIC, number),
        lambda case, column, which=number + 1: _critic(case, which, column),  # type: ignore[misc]
        f"online critic {number}")),
    *objects("target_twins", f"{_SINGLE} target_critics critics_target target_soft_q",
             lambda case, column: twins_of(case, 0, column), "both target critics"),
    *objects("target_critic1", _SINGLE, lambda case, column: _critic(case, 0, column), "the target critic"),
    *objects("twins", "critic critics qf q_net q_network q_function critic_net soft_q online_critic",
              lambda case, column: twins_of(case, 2, column), "both online critics"),
)  # fmt: skip


def observations(case: Case) -> Array:
    count = len(case["reward"])
    return np.eye(2 * count)[count:]


def _current(case: Case) -> Array:
    count = len(case["reward"])
    return np.eye(2 * count)[:count]


NEXT_OBS = Quantity(
    "next_obs",
    "next_obs next_observation next_observations next_state next_states new_obs new_state new_states s2 o2 obs2 s_next "
    "obs_next s_prime state_prime s_p ns n_obs state_ states_ s_ next_s obs_tp1 s_tp1 next_ob obs_ s1 new_observations",
    "ND", of=observations, meaning="s′",
)  # fmt: skip
OBS = Quantity("obs", "obs observation observations state states s o ob obs_t s_t state_t", "ND", of=_current,
               meaning="s")  # fmt: skip
ACTIONS = Quantity("action", "action actions a act acts action_t a_t", "NK", of=lambda case: case["action"][:, None],
                   meaning="the action taken")  # fmt: skip
