"""Episodes as the environment itself reported them."""

from __future__ import annotations

import numpy as np

from rldebug.metric import metric
from rldebug.rollout import Episodes


@metric(
    "episode/return_mean", "episode/return_std", "episode/return_min", "episode/return_max",
    unit="reward", reads=Episodes, healthy="rises, steeply at first, then levels out",
)  # fmt: skip
def episode_return(episodes: Episodes) -> tuple[float, ...] | None:
    """Total reward per episode, over the episodes that ended since the last reading."""
    return _moments(episodes.returns)


@metric(
    "episode/length_mean", "episode/length_std", "episode/length_min", "episode/length_max",
    unit="env steps", reads=Episodes, healthy="varies from episode to episode, unless the task says otherwise",
)  # fmt: skip
def episode_length(episodes: Episodes) -> tuple[float, ...] | None:
    """Steps per episode, over the episodes that ended since the last reading."""
    return _moments(episodes.lengths)


@metric(
    "episode/count", "episode/terminated", "episode/truncated",
    unit="episodes", reads=Episodes, healthy="above 0",
)  # fmt: skip
def episode_count(episodes: Episodes) -> tuple[int, ...]:
    """How many episodes ended since the last reading, and how: by a terminal state, or cut off."""
    return len(episodes.lengths), episodes.terminated, episodes.truncated


@metric(
    "episode/reward_per_step", "episode/reward_sum", "episode/steps",
    unit="reward", reads=Episodes, healthy="rises",
)  # fmt: skip
def reward_per_step(episodes: Episodes) -> tuple[float, ...]:
    """Reward per env step since the last reading, its total, and the number of steps."""
    return episodes.reward_sum / episodes.steps, episodes.reward_sum, episodes.steps


def _moments(values: object) -> tuple[float, ...] | None:
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return None
    return float(array.mean()), float(array.std()), float(array.min()), float(array.max())
