"""Rollouts made of numbers, with targets by any formula, right or wrong. No network, no environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN
from rldebug.forensics.target_rows import Steps, joined

Array = NDArray[np.float64]


@dataclass
class Rollout:
    """Arrays of (time, lane). values has one time more; final is the value of where a step truly led."""

    reward: Array
    value: Array
    final: Array
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    @property
    def done(self) -> NDArray[np.bool_]:
        return self.terminated | self.truncated


def rollout(seed: int, times: int = 64, lanes: int = 4, *, sparse: bool = False, constant: bool = False) -> Rollout:
    draw = np.random.default_rng(seed)
    reward = draw.normal(size=(times, lanes))
    if sparse:
        reward = reward * (draw.random((times, lanes)) < 0.1)
    if constant:
        reward = np.ones((times, lanes))
    value = draw.normal(size=(times + 1, lanes)) * 2 + 1
    terminated = draw.random((times, lanes)) < 0.06
    truncated = (draw.random((times, lanes)) < 0.05) & ~terminated
    final = np.where(terminated | truncated, draw.normal(size=(times, lanes)), value[1:])
    return Rollout(reward, value, final, terminated, truncated)


def gae(
    of: Rollout, gamma: float = 0.97, lam: float = 0.9, *, late: bool = False, mask: str = "", bootstrap: str = "next",
    truncation: str = "final", own: bool = False,
) -> Array:  # fmt: skip
    """Targets V + A. mask: "" right, "none", "value" (carry reset only), "carry" (value masked only), "early" (the
    carry is reset with the flag of the next step)."""
    times = len(of.reward)
    target = np.zeros_like(of.reward)
    carry = np.zeros(of.reward.shape[1])
    reward = of.reward.copy()
    if truncation == "final":
        reward = reward + gamma * of.final * of.truncated
    done = of.done
    if late:
        done = np.concatenate([np.zeros((1, done.shape[1]), dtype=bool), done[:-1]])
    for t in reversed(range(times)):
        after = of.value[t + 1]
        if t == times - 1 and bootstrap != "next":
            after = {"zero": 0.0 * after, "own": of.value[t], "begun": of.value[0]}[bootstrap]
        if own:
            after = of.value[t]
        on_value = 1.0 if mask in ("none", "value") else 1.0 - done[t]
        on_carry = 1.0 if mask in ("none", "carry") else 1.0 - done[t]
        delta = reward[t] + gamma * after * on_value - of.value[t]
        if mask == "early":
            on_carry = 1.0 - of.done[min(t + 1, times - 1)]
        carry = delta + gamma * lam * on_carry * carry
        target[t] = carry + of.value[t]
    return target


def returns(of: Rollout, gamma: float = 0.95, *, reset: bool = True) -> Array:
    target = np.zeros_like(of.reward)
    running = np.zeros(of.reward.shape[1])
    for t in reversed(range(len(of.reward))):
        running = of.reward[t] + gamma * running * (1.0 - of.done[t] if reset else 1.0)
        target[t] = running
    return target


def steps(of: Rollout, target: Array, number: int = 0, *, values: bool = True, drop: float = 0.0) -> Steps:
    """The table, in single precision as networks have it."""
    times, lanes = of.reward.shape
    place = np.arange(times * lanes).reshape(times, lanes)
    after = np.concatenate([place[1:], np.full((1, lanes), UNKNOWN)])
    before = np.concatenate([np.full((1, lanes), UNKNOWN), place[:-1]])
    first = np.concatenate([np.zeros((1, lanes), dtype=bool), of.done[:-1]])
    end = np.zeros((times, lanes), dtype=bool)
    end[-1] = ~of.done[-1]
    hidden = 1.0 if values else np.nan

    def single(array: Array) -> Array:
        return np.asarray(array, dtype=np.float32).astype(np.float64).ravel()

    made = Steps(
        target=single(target),
        reward=of.reward.ravel(),
        value=single(of.value[:-1]) * hidden,
        value_after=single(of.value[1:]) * hidden,
        value_next=single(of.final) * hidden,
        after=after.ravel(),
        before=before.ravel(),
        terminated=of.terminated.ravel(),
        truncated=of.truncated.ravel(),
        phantom=np.zeros(times * lanes, dtype=bool),
        first=first.ravel(),
        end=end.ravel(),
        lane=np.tile(np.arange(lanes), times),
        time=np.repeat(np.arange(times), lanes),
        batch=np.full(times * lanes, number),
        audit=np.full(times * lanes, number),
        node=np.arange(times * lanes),
    )
    if drop:
        made = made.only(np.random.default_rng(number).random(times * lanes) >= drop)
    return made


def several(
    make: Callable[[Rollout], Array], count: int = 3, values: bool = True, drop: float = 0.0, **options: Any
) -> Steps:
    parts = []
    for number in range(count):
        of = rollout(number, **options)
        parts.append(steps(of, make(of), number, values=values, drop=drop))
    return joined(parts)


__all__ = ["Rollout", "gae", "replace", "returns", "rollout", "several", "steps"]
