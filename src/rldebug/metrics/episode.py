"""Episodes as the environment itself reported them."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.run import Run, Series
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


@metric("episode/return_rise", unit="standard errors", reads=Run, healthy="rises above 3")
def return_rise(run: Run) -> list[Series]:
    """How far the return stands above its start: mean of the newest quarter of the readings so far, minus the mean of
    the first few, in standard errors of the difference. 0 while the return has never varied.

    From the episodes the environment reported, else from the rewards of rollouts.
    """
    for name in ("episode/return_mean", "reward/per_trajectory", "episode/reward_per_step", "reward/mean"):
        returns = run[name].finite
        if len(returns) >= 8 and (name != "reward/mean" or np.ptp(returns.value) > 0):
            break
    else:
        return []
    few = max(len(returns) // 20, 3)
    start = returns.value[:few].mean()
    # Three readings say little about their own scatter; neighbours differ by noise and not by learning.
    noise = np.diff(returns.value[: max(len(returns) // 4, 8)]).std() / np.sqrt(2.0)
    rise = np.zeros(len(returns))
    for i in range(2 * few, len(returns)):
        newest = returns.value[i + 1 - max((i + 1) // 4, few) : i + 1]
        error = np.sqrt(noise**2 / few + newest.var() / len(newest))
        gain = newest.mean() - start
        rise[i] = gain / error if error > 0 else np.sign(gain) * 1e6
    return [Series("episode/return_rise", returns.update, returns.env_step, rise)]


def _moments(values: object) -> tuple[float, ...] | None:
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return None
    return float(array.mean()), float(array.std()), float(array.min()), float(array.max())
