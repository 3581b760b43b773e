"""The projection of C51: the distribution of r + γ z, put back onto the atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from rldebug.oracles.material.categorical_mistakes import MISTAKES
from rldebug.oracles.material.q_tables import NETWORKS, OBSERVATIONS
from rldebug.oracles.material.replayed import (
    FLAGS,
    GAMMA_NAME,
    N_STEPS,
    REWARD,
    draw_rows,
    fair,
    mask_of,
    outcomes,
    remarks,
    rows,
)
from rldebug.oracles.oracle import Array, Case, Oracle, Output, Quantity, Style, Values, floats


def reference(case: Case) -> Values:
    support = case["support"]
    projected = np.zeros_like(case["next_probs"])
    for i in range(len(projected)):
        for j in range(len(support)):
            worth = 0.0 if case["terminated"][i] else case["gamma"] ** case["n"] * support[j]
            place = min(max(case["reward"][i] + worth, support[0]), support[-1])
            for k in range(len(support)):  # each atom gets its share by how near it is
                step = support[1] - support[0]
                share = max(0.0, 1.0 - abs(place - support[k]) / step)
                projected[i, k] += share * case["next_probs"][i, j]
    return {"projection": projected}


def variant(
    case: Case,
    *,
    mask: str = "terminated",
    masks_reward: bool = False,
    gamma_power: int = 1,
    n_power: str = "power",  # power, one
    reward: float = 1.0,
    hits: str = "kept",  # where an atom is hit exactly: kept, lost, doubled
    shares: str = "near",  # near, far: the shares of the two neighbours are swapped
    rounding: str = "linear",  # linear, lower, nearest
    steps: int = 1,  # how many fewer intervals than atoms
    atoms: str = "moved",  # moved, still: no projection, own: those that follow from the wrong step
    offset: str = "rows",  # rows, none: all rows are added up into the first
    clamped: str = "atoms",  # what is kept within range: atoms, indices alone
    duplicates: str = "added",  # added, last: where several fall on an atom, the last one counts
    double: bool = False,
    weighed: bool = False,  # probabilities that were multiplied by the atoms, to find the best action
) -> Values:
    support, p = case["support"], case["other_probs"] if double else case["next_probs"]
    p = p * support if weighed else p
    if atoms == "still":
        return {"projection": p}
    count = len(support)
    low, high = support[0], support[-1]
    width = (high - low) / (count - steps)
    kept = mask_of(case, mask)[:, None]
    gained = reward * case["reward"][:, None]
    gained = gained * kept if masks_reward else gained
    gamma = case["gamma"]
    factor = gamma ** (case["n"] if n_power == "power" else 1)
    factor = {0: 1.0, 1: factor, 2: factor * gamma}[gamma_power]
    own = low + width * np.arange(count)
    moved = gained + factor * kept * (own if atoms == "own" else support)
    place = ((moved if clamped == "indices" else np.clip(moved, low, high)) - low) / width
    place = np.minimum(place, count - 1) if atoms == "own" else place
    place = np.where(np.abs(place - np.round(place)) < 1e-9, np.round(place), place)
    # With a step that is too small, places lie beyond the last atom: those who do not clamp them get an IndexError.
    lower = np.minimum(np.floor(place).astype(int), count - 1)
    upper = np.minimum(np.ceil(place).astype(int), count - 1)
    to_lower, to_upper = upper - place, place - lower
    exact = lower == upper
    if hits == "kept":
        to_lower = to_lower + exact
    elif hits == "doubled":  # both neighbours are moved apart, and each gets the whole
        lower, upper = np.where(exact, np.maximum(lower - 1, 0), lower), np.where(exact, upper + 1, upper)
        upper = np.minimum(upper, count - 1)
        to_lower, to_upper = upper - place, place - lower
    if shares == "far":
        to_lower, to_upper = np.where(exact, to_lower, to_upper), np.where(exact, to_upper, to_lower)
    if rounding == "lower":
        to_lower, to_upper = np.ones_like(place), np.zeros_like(place)
    elif rounding == "nearest":
        lower, to_lower, to_upper = np.round(place).astype(int), np.ones_like(place), np.zeros_like(place)
    if clamped == "indices":
        lower = np.clip(np.floor(place).astype(int), 0, count - 1)
        upper = np.minimum(lower + 1, count - 1)
        to_lower, to_upper = 1.0 - (place - lower), place - lower
    projected = np.zeros_like(p)
    if duplicates == "last":
        every = np.arange(len(p))[:, None]
        projected[every, lower] += to_lower * p
        projected[every, upper] += to_upper * p
        return {"projection": projected}
    for i, j in np.ndindex(*p.shape):
        row = i if offset == "rows" else 0
        projected[row, lower[i, j]] += to_lower[i, j] * p[i, j]
        projected[row, upper[i, j]] += to_upper[i, j] * p[i, j]
    return {"projection": projected}


_PROBS = [[0.5, 0.125, 0.25, 0.0, 0.125], [0.0, 0.25, 0.0, 0.5, 0.25], [0.125, 0.0, 0.5, 0.25, 0.125]]


def _case(name: str, reward: Any, *, low: float = -2.0, high: float = 2.0, n: int = 3, **given: Any) -> Case:
    probs = floats(_PROBS)[: len(reward)]
    return _made(rows(name, reward, next_probs=probs, support=np.linspace(low, high, 5), n=n, **given))


def _made(case: Case) -> Case:
    """With the distributions of two actions. By the target network the one to be projected is better; by the online
    network the other is, which is the one to project where the target is double."""
    count, atoms = case["next_probs"].shape
    action = np.arange(count) % 2
    worse = 0.5 * case["next_probs"] + 0.5 * np.eye(atoms)[0]
    every = np.stack([np.where(action[:, None] == each, case["next_probs"], worse) for each in (0, 1)], axis=1)
    return case.but(next_action=action, next_probs_all=every, other_probs=worse)


class Network(nn.Module):
    """From a one-hot observation to the distributions of its actions."""

    def __init__(self, table: Array) -> None:
        super().__init__()
        self.register_buffer("table", torch.tensor(np.ascontiguousarray(table), dtype=torch.float32))

    def forward(self, observations: Any, *_: Any, **__: Any) -> torch.Tensor:
        rows_in = torch.as_tensor(observations, dtype=torch.float32)
        return torch.einsum("...n,nak->...ak", rows_in, self.table)

    def reset_noise(self) -> None: ...

    sample_noise = reset_noise
    dist = get_dist = get_distribution = distribution = get_probs = forward


def cases() -> list[Case]:
    return [
        _case("one row", [0.25]),
        _case("one row that hits atoms", [1.0]),
        _case("two rows", [0.25, -0.75]),
        _case("two rows, the first terminates", [0.25, -0.75], terminated=[1, 0]),
        _case("two rows that hit atoms", [1.0, 0.0], terminated=[1, 0]),
        _case("two rows beyond the ends", [2.25, -2.75]),
        _case("three rows", [0.25, -0.75, 0.5], terminated=[0, 1, 0]),
        _case("three rows, one cut off", [0.25, -0.75, 0.5], truncated=[0, 1, 0], terminated=[1, 0, 0]),
        _case("three rows, γ = 1", [0.25, 1.0, 0.5], gamma=1.0),
        _case("three rows, atoms from 0 to 8", [0.5, 3.0, 1.0], terminated=[0, 1, 0], low=0.0, high=8.0),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    given = draw_rows(draw, 3)
    given["reward"] = given["reward"] / 2.0
    atoms = draw(st.integers(3, 6))
    weights = st.lists(st.integers(0, 3), min_size=atoms, max_size=atoms).filter(any)
    probs = floats([draw(weights) for _ in given["reward"]])
    probs = probs / probs.sum(axis=1, keepdims=True)
    low = draw(st.sampled_from([-2.0, -1.0, 0.0]))
    more = {"next_probs": probs, "support": np.linspace(low, 3.0, atoms), "n": draw(st.integers(1, 3))}
    return _made(Case("drawn at random", {**given, **more}, edge=len(probs) == 1))


def told(case: Case, bound: frozenset[str]) -> Case:
    changed: dict[str, Any] = {} if "n" in bound else {"n": 1}
    if "q_net" not in bound:
        changed["other_probs"] = case["next_probs"]
    elif "target_net" not in bound:  # there is but one network
        changed |= {"next_probs": case["other_probs"], "next_probs_all": case["next_probs_all"][:, ::-1]}
    return case.but(**changed) if changed else case


def rebuild(given: Mapping[str, Any]) -> Case:
    known = outcomes(given)
    probs = given.get("next_probs")
    if probs is None:
        every = floats(given["next_probs_all"])
        probs = every[np.arange(len(every)), np.asarray(given["next_action"], dtype=int)]
    probs = floats(probs)
    support = given.get("support")
    if support is None:
        support = np.linspace(given["v_min"], given["v_max"], probs.shape[1])
    return Case("from the program", {**known, "next_probs": probs, "other_probs": probs, "support": floats(support)})


def _of(field: str, what: str) -> Any:
    def take(case: Case) -> Any:
        z = case[field]
        return {"first": float(z[0]), "last": float(z[-1]), "count": len(z), "step": float(z[1] - z[0])}[what]

    return take


def _network(name: str) -> Any:
    """The online network has the distributions of both actions the other way round."""
    return lambda case: Network(case["next_probs_all"] if name == "target_net" else case["next_probs_all"][:, ::-1])


def _logits(case: Case) -> Array:
    return np.asarray(np.log(np.maximum(case["next_probs"], 1e-30)))


_NEXT = (
    "next_probs next_dist next_distr next_distribution next_dists next_pmf next_pmfs next_p p_next next_probabilities "
    "probs probabilities dist pmf pmfs p next_atoms_probs target_probs next_prob target_dist distribution "
    "pns_a next_q_dist next_state_dist next_target_dist weights"
)

CATEGORICAL_PROJECTION = Oracle(
    name="categorical-projection",
    aliases="c51 distributional-projection c51-projection project-distribution categorical-dqn",
    code="VAL150",
    summary="The projection of C51: the next distribution, moved by r + γ z and shared among the atoms.",
    formula="m = Π(r + γⁿ (1 − terminated) z), each moved atom shared between its two neighbours by nearness",
    example="def project(next_probs, rewards, dones, support, gamma)",
    references="Bellemare and others, *A distributional perspective on reinforcement learning*.",
    quantities=(
        REWARD,
        Quantity("next_probs", _NEXT, "NK", meaning="p(z) of the next state's action"),
        Quantity("next_probs_all", _NEXT, "NAK", with_=("next_action",), meaning="p(z) of each next action"),
        Quantity("next_action", "next_action next_actions best_actions best_action argmax_actions greedy_actions "
                 "a_star action actions", "N", "int", with_=("next_probs_all",), meaning="the next action"),
        Quantity("next_log_probs", "next_log_probs next_log_p log_p_next next_log_dist", "NK", of=_logits,
                 meaning="log p(z) of the next state's action"),
        *(replace(each, of=_network(each.name)) for each in NETWORKS),
        Quantity("next_obs", OBSERVATIONS[1].names, "ND", of=lambda case: np.eye(len(case["reward"])), meaning="s′"),
        Quantity("offset", "offset offsets", "NK", "int",
                 of=lambda case: np.arange(len(case["reward"]))[:, None] * case["next_probs"].shape[1]
                 + np.zeros((1, case["next_probs"].shape[1]), dtype=int), meaning="where each row begins"),
        *FLAGS, GAMMA_NAME, N_STEPS,
        Quantity("mask", "nonterminals nonterminal non_terminals not_done not_dones masks mask", "NE",
                 of=lambda case: (~case["done"]).astype(float)[:, None], meaning="1 unless the step ended an episode"),
        Quantity("moved", "supports moved_atoms moved_support tz next_atoms target_atoms shifted_support", "NK",
                 of=lambda case: case["reward"][:, None] + case["gamma"] ** case["n"]
                 * ~case["terminated"][:, None] * case["support"], with_=("support",), without=("reward",),
                 meaning="r + γ z for each row"),
        Quantity("support", "support atoms z target_support atom_values values z_support bins zs q_support support_z "
                 "value_bins",
                 "K", meaning="the atoms"),
        Quantity("v_min", "v_min vmin min_value minv q_min z_min min_v vmin_", kind="int", of=_of("support", "first"),
                 meaning="the first atom"),
        Quantity("v_max", "v_max vmax max_value maxv q_max z_max max_v", kind="int", of=_of("support", "last"),
                 meaning="the last atom"),
        Quantity("count", "n_atoms num_atoms atom_size natoms atoms_n n_bins num_bins nb_atoms atoms num_support "
                 "categorical_dqn_num_atoms support_size", kind="int", of=_of("support", "count"),
                 meaning="number of atoms"),
        Quantity("step", "delta_z dz delta atom_delta deltaz step_z", kind="int", of=_of("support", "step"),
                 meaning="distance between atoms"),
    ),
    outputs=(
        Output("projection", "projection projected proj_dist m projected_dist target_dist target_pmfs target_pmf "
               "projected_probs proj target_probs target", "NK"),
    ),
    required=("reward|moved", "next_probs|next_probs_all|next_log_probs|target_net|q_net", "support|v_min"),
    columns=("reward", "terminated", "next_probs", "support"),
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
    ),
    mistakes=MISTAKES,
)  # fmt: skip
