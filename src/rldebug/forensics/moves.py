"""Moves: the steps of an environment one after another, and how well a reward follows from the one or the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script

Array = NDArray[np.float64]
_MOST = 3000  # moves
_WIDE = 32  # elements of an observation
_KINDS = 8  # different actions that are told apart by their number
_BENDS = 160  # features of the regression
_RIDGE = 1e-4


@dataclass(frozen=True, eq=False)
class Moves:
    """Steps of one environment that were seen in audits, one row each; none that ended an episode for good."""

    obs: Array
    action: Array
    reached: Array
    reward: Array
    before: NDArray[np.int64]  # the row of the step that led here; -1 where that is not known
    first: NDArray[np.bool_]  # the first step of an episode

    def __len__(self) -> int:
        return len(self.reward)


def moves_of(script: Script, stream: int) -> Moves | None:
    """None where observations are wide, or not remembered."""
    rows: dict[int, tuple[int, Array, Array, Array, float, bool]] = {}
    for audit in script.audits:
        nodes = audit.nodes
        if not 0 < nodes.obs.shape[1] <= _WIDE or len(rows) > _MOST:
            continue
        places = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.phantom & ~nodes.terminated)
        reached = nodes.index(nodes.nxt[places])
        for place, to in zip(places[reached >= 0].tolist(), reached[reached >= 0].tolist(), strict=True):
            known = np.isfinite(nodes.obs[place]).all() and np.isfinite(nodes.obs[to]).all()
            if known and np.isfinite(nodes.reward[place]) and np.isfinite(nodes.action[place]).all():
                rows[int(nodes.id[place])] = (
                    int(nodes.nxt[place]),
                    nodes.obs[place].astype(np.float64),
                    nodes.action[place],
                    nodes.obs[to].astype(np.float64),
                    float(nodes.reward[place]),
                    bool(nodes.first[place]),
                )
    if not rows or len({(len(each[1]), len(each[2])) for each in rows.values()}) != 1:
        return None
    led = {each[0]: place for place, each in enumerate(rows.values())}
    return Moves(
        obs=np.stack([each[1] for each in rows.values()]),
        action=_told_apart(np.stack([each[2] for each in rows.values()])),
        reached=np.stack([each[3] for each in rows.values()]),
        reward=np.array([each[4] for each in rows.values()]),
        before=np.array([-1 if each[5] else led.get(id, -1) for id, each in rows.items()], dtype=np.int64),
        first=np.array([each[5] for each in rows.values()]),
    )


def _told_apart(action: Array) -> Array:
    """Numbers of actions as a column for each of them."""
    kinds = np.unique(action)
    if action.shape[1] == 1 and 1 < len(kinds) <= _KINDS and (kinds == np.round(kinds)).all():
        return np.asarray(action == kinds, dtype=np.float64)
    return np.asarray(action, dtype=np.float64)


class Regression:
    """A smooth function of some columns: a ridge regression on bent combinations of them."""

    def __init__(self, columns: Array, values: Array) -> None:
        self._mean, self._scale = columns.mean(axis=0), columns.std(axis=0)
        self._scale = np.where(self._scale > 1e-9, self._scale, 1.0)
        draw = np.random.default_rng(0)
        width = columns.shape[1]
        self._weight = draw.normal(size=(width, _BENDS)) / np.sqrt(max(width, 1))
        self._shift = draw.normal(size=_BENDS)
        self._level = float(values.mean())
        features = self._features(columns)
        square = features.T @ features
        square[np.diag_indices_from(square)] += _RIDGE * len(features)
        self._fit = np.linalg.solve(square, features.T @ (values - self._level))

    def _features(self, columns: Array) -> Array:
        scaled = np.clip((columns - self._mean) / self._scale, -6, 6)
        return np.column_stack([np.ones(len(scaled)), scaled, np.maximum(scaled @ self._weight + self._shift, 0)])

    def __call__(self, columns: Array) -> Array:
        return np.asarray(self._features(columns) @ self._fit + self._level, dtype=np.float64)


def unexplained(columns: Array, values: Array) -> float:
    """Share of the variance that is left, in rows that the regression was not fitted to."""
    held = np.arange(len(values)) % 3 == 0
    if float(values[held].var()) < 1e-12:
        return 1.0
    rest = values[held] - Regression(columns[~held], values[~held])(columns[held])
    return float((rest**2).mean() / values[held].var())
