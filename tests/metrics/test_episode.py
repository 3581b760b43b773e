import math
import statistics
from itertools import pairwise

import numpy as np
import pytest

from rldebug.evidence.run import Run
from rldebug.metrics.episode import return_rise
from rldebug.rollout import Episodes
from tests.metrics.reading import about, number, numbers


def episodes(returns, lengths, terminated=0, truncated=0, reward_sum=0.0, steps=1):
    return Episodes(np.array(returns), np.array(lengths), terminated, truncated, reward_sum, steps)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_returns_and_lengths(count):
    generator = np.random.default_rng(0)
    returns, lengths = generator.normal(size=count), generator.integers(1, 50, size=count)
    seen = episodes(returns, lengths)
    for name, values in (("return", returns.tolist()), ("length", lengths.tolist())):
        slow = (sum(values) / count, statistics.pstdev(values), min(values), max(values))
        names = f"episode/{name}_mean episode/{name}_std episode/{name}_min episode/{name}_max"
        assert numbers(names, seen) == tuple(about(each) for each in slow)


NAMES = """episode/return_mean episode/return_std episode/return_min episode/return_max
episode/length_mean episode/length_std episode/length_min episode/length_max"""


def test_no_episode_has_no_return():
    assert numbers(NAMES, episodes([], [])) == (None,) * 8
    assert numbers("episode/count episode/terminated episode/truncated", episodes([], [])) == (0, 0, 0)


def test_ends_are_counted_by_kind():
    seen = episodes([1.0, 2.0, 3.0], [4, 5, 6], terminated=2, truncated=1)
    assert numbers("episode/count episode/terminated episode/truncated", seen) == (3, 2, 1)


def test_reward_per_step():
    seen = episodes([], [], reward_sum=-12.0, steps=48)
    assert numbers("episode/reward_per_step episode/reward_sum episode/steps", seen) == (-0.25, -12.0, 48)


# ── the rise of the return ──────────────────────────────────────────────────────────────────────────────────────────


def rise_of(numbers_):
    series = return_rise(Run.from_series(numbers_))
    assert [each.name for each in series] == ["episode/return_rise"] * len(series)
    return series[0].value if series else None


def slow_rise(returns):
    few = max(len(returns) // 20, 3)
    start = sum(returns[:few]) / few
    early = returns[: max(len(returns) // 4, 8)]
    noise = statistics.pstdev(b - a for a, b in pairwise(early)) / math.sqrt(2.0)
    out = []
    for i in range(len(returns)):
        if i < 2 * few:
            out.append(0.0)
            continue
        newest = returns[i + 1 - max((i + 1) // 4, few) : i + 1]
        gain = sum(newest) / len(newest) - start
        error = math.sqrt(noise**2 / few + statistics.pvariance(newest) / len(newest))
        out.append(gain / error if error > 0 else math.copysign(1e6, gain) if gain else 0.0)
    return out


@pytest.mark.parametrize("length", [8, 40, 200])
def test_rise_of_the_return(length):
    noise = np.random.default_rng(1).normal(size=length)
    returns = (np.linspace(20.0, 60.0, length) + 5.0 * noise).tolist()
    assert rise_of({"episode/return_mean": returns}).tolist() == [about(each) for each in slow_rise(returns)]


def test_rise_is_none_when_nothing_moves_and_large_when_everything_does():
    assert rise_of({"episode/return_mean": [7.0] * 30}).tolist() == [0.0] * 30
    assert rise_of({"episode/return_mean": [0.0] * 10 + [1.0] * 30})[-1] > 100
    assert rise_of({"episode/return_mean": [1.0] * 5}) is None


def test_rise_falls_back_on_the_rewards_of_rollouts():
    returns = np.linspace(1.0, 3.0, 30).tolist()
    assert rise_of({"reward/mean": returns})[-1] == about(slow_rise(returns)[-1])
    assert rise_of({"reward/mean": [1.0] * 30}) is None  # a constant reward says nothing about the return


def test_names_are_those_of_the_catalogue():
    seen = episodes([2.0], [5], steps=3)
    assert number("episode/count", seen) == 1
    assert number("episode/length_mean", seen) == 5
    assert number("episode/return_mean", seen) == 2
    assert number("episode/reward_sum", seen) == 0
