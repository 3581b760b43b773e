"""Rewards that a program divides by a running statistic of its returns: which one, by the first rollout of the run.

There all rewards since the first step are known, so the statistic can be computed as it must have been: of discounted
sums of each lane, counted step by step. The factors that the critic's targets were made with are held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_models import right_formula_of
from rldebug.forensics.target_rows import Steps, groups
from rldebug.forensics.target_scaled import rescaled

_MOMENTS = 12  # of the second half of the first rollout
_NEAR = 0.03  # of the log of a factor: how the count begins is not known


@dataclass(frozen=True, eq=False)
class RewardScale:
    """`variance`: each reward was divided by the variance of the returns so far, and not by their deviation."""

    variance: bool
    deviation: float  # of the returns, at the end of the first rollout
    factor: float  # that rewards are multiplied with there
    moments: int
    terms: tuple[Event, ...]


def reward_scale(script: Script) -> RewardScale | None:
    """None where rewards are not scaled by what moves, or by something else, or the first steps were not seen."""
    first = next((each for each in script.audits if not each.env_step and not each.update), None)
    if first is None:
        return None
    for group in groups(script, "regression", "target"):
        table = rescaled(group.steps)
        formula = None if table is None else right_formula_of(table)
        if table is None or formula is None or formula.gamma is None:
            continue
        own = (table.audit == first.number) & (np.abs(group.steps.reward) > 1e-6) & np.isfinite(table.reward)
        if not own.any():
            continue
        calls = first.nodes.call[table.node[own]]
        factors = table.reward[own] / group.steps.reward[own]
        found = {int(each): float(np.median(factors[calls == each])) for each in np.unique(calls)}
        scale = _told(script, first.number, group.steps, found, formula.gamma)
        if scale is not None:
            return RewardScale(*scale, group.terms)
    return None


def _told(
    script: Script, number: int, steps: Steps, found: dict[int, float], gamma: float
) -> tuple[bool, float, float, int] | None:
    for variances in _variances(script, number, steps, gamma):
        common = sorted(each for each in found if variances.get(each, 0.0) > 0.0)
        common = common[len(common) // 2 :]
        if len(common) < _MOMENTS:
            continue
        factor = np.log([found[each] for each in common])
        size = 0.5 * np.log([variances[each] for each in common])
        for power in (1.0, 2.0):
            other = 3.0 - power
            apart = float(np.median(np.abs(factor + other * size)))
            if float(np.max(np.abs(factor + power * size))) < _NEAR and apart > 10 * _NEAR:
                return power == 2.0, float(np.exp(size[-1])), float(np.exp(factor[-1])), len(common)
    return None


def _variances(script: Script, number: int, steps: Steps, gamma: float) -> Iterator[dict[int, float]]:
    """Of the returns so far, after each call of the environment; with the usual ways to begin a return anew."""
    nodes = next(each for each in script.audits if each.number == number).nodes
    stream = int(nodes.stream[steps.node[steps.audit == number][0]])
    acted = nodes.acted & (nodes.stream == stream) & (nodes.update == 0)
    lanes = np.unique(nodes.lane[acted])
    calls = np.unique(nodes.call[acted])
    rows = {(int(nodes.call[each]), int(nodes.lane[each])): int(each) for each in np.flatnonzero(acted)}
    if len(rows) != len(lanes) * len(calls):
        return
    grid = np.array([[rows[int(call), int(lane)] for lane in lanes] for call in calls])
    reward = nodes.reward[grid]
    if not np.isfinite(reward).all():
        return
    ended = nodes.terminated[grid] | nodes.truncated[grid]
    for cut, before in product((ended, nodes.terminated[grid], np.zeros_like(ended)), (True, False)):
        yield dict(zip(calls.tolist(), _running(reward, cut, gamma, before).tolist(), strict=True))


def _running(reward: Array, cut: Array, gamma: float, before: bool) -> Array:
    """`before`: the statistics are updated before they are used."""
    total = np.zeros(reward.shape[1])
    seen: list[float] = []
    made: list[float] = []
    for now, over in zip(reward, cut, strict=True):
        total = gamma * total + now
        if not before:
            made.append(float(np.var(seen)) if seen else 0.0)
        seen.extend(total.tolist())
        if before:
            made.append(float(np.var(seen)))
        total = np.where(over, 0.0, total)
    return np.array(made)
