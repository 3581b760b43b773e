import math

import numpy as np
import pytest
import torch

from rldebug.rollout import Rollout, Update
from tests.metrics.reading import NAN, about, number, numbers, random_rows, vector

ROWS = (1, 2, 7, 64)
DTYPES = (torch.float32, torch.float64)


def slow_moments(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((each - mean) ** 2 for each in values) / len(values)), min(values), max(values)


def slow_correlation(xs, ys):
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        return math.nan
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    top = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True))
    return top / math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))


def slow_slope(xs, ys):
    if len(set(ys)) < 2:
        return math.nan
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((y - my) ** 2 for y in ys)


def random_rollout(steps, envs, seed=0, dtype=torch.float32, ends=0.2):
    generator = torch.Generator().manual_seed(seed)

    def flags(share):
        return torch.rand(steps, envs, generator=generator) < share

    return Rollout(
        value=torch.randn(steps, envs, generator=generator, dtype=dtype),
        reward=torch.randn(steps, envs, generator=generator, dtype=dtype),
        terminated=flags(ends),
        truncated=flags(ends / 2),
    )


# ── distributions ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_distributions_of_values_and_targets(rows, dtype):
    value, target = random_rows(rows, 0, dtype), random_rows(rows, 1, dtype, scale=7.0)
    update = Update(value=value, target=target)
    names = "value/mean value/std value/min value/max"
    assert numbers(names, update) == tuple(about(each) for each in slow_moments(value.tolist()))
    names = "target/mean target/std target/min target/max"
    assert numbers(names, update) == tuple(about(each) for each in slow_moments(target.tolist()))


def test_a_nan_shows_in_every_moment():
    update = Update(value=torch.tensor([1.0, math.nan, 3.0]), target=torch.zeros(3))
    assert numbers("value/mean value/std value/min value/max", update) == (NAN, NAN, NAN, NAN)
    assert numbers("value/residual_var value/target_corr", update) == (NAN, NAN)


# ── prediction against target ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [2, 7, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_residual_variance_and_correlation(rows, dtype):
    value, target = random_rows(rows, 0, dtype), random_rows(rows, 1, dtype, scale=3.0)
    update = Update(value=value, target=target)
    residual = [t - v for t, v in zip(target.tolist(), value.tolist(), strict=True)]
    share = slow_moments(residual)[1] ** 2 / slow_moments(target.tolist())[1] ** 2
    assert number("value/residual_var", update) == about(share, rel=1e-4)
    assert number("value/target_corr", update) == about(slow_correlation(value.tolist(), target.tolist()), rel=1e-4)


def test_residual_variance_of_hand_worked_rows():
    target = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert number("value/residual_var", Update(value=target.clone(), target=target)) == 0.0
    assert number("value/residual_var", Update(value=torch.full((4,), 9.0), target=target)) == about(1.0)
    assert number("value/residual_var", Update(value=-target, target=target)) == about(4.0)
    assert number("value/target_corr", Update(value=2 * target + 5, target=target)) == about(1.0)
    assert number("value/target_corr", Update(value=-target, target=target)) == about(-1.0)


@pytest.mark.parametrize("constant", [0.1, 0.3, 12345.678, -1e-3])
@pytest.mark.parametrize("rows", [1, 3, 64, 100])
def test_constant_targets_explain_nothing_whatever_their_size(constant, rows):
    """The mean of a constant is not exactly that constant: without care this gives numbers of any size."""
    update = Update(value=random_rows(rows, 0), target=torch.full((rows,), constant))
    assert number("value/target_corr", update) == NAN
    share = number("value/residual_var", update)
    assert math.isnan(share) or math.isinf(share)


def test_targets_may_be_whole_numbers():
    update = Update(value=torch.tensor([0.5, 1.5, 2.5]), target=torch.tensor([0, 1, 3]))
    assert number("value/residual_var", update) == about(np.var([-0.5, -0.5, 0.5]) / np.var([0, 1, 3]))


# ── around the ends of episodes ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("steps", "envs"), [(30, 1), (50, 4), (8, 16)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("with_truncated", [True, False])
def test_correlations_around_ends(steps, envs, dtype, with_truncated):
    full = random_rollout(steps, envs, dtype=dtype)
    rollout = full if with_truncated else Rollout(value=full.value, reward=full.reward, terminated=full.terminated)
    value, reward, ended = full.value.tolist(), full.reward.tolist(), full.terminated.tolist()
    cut = full.truncated.tolist() if with_truncated else [[False] * envs for _ in range(steps)]
    last, before_last, inside = ([], []), ([], []), ([], [])
    for b in range(envs):
        for t in range(steps):
            if ended[t][b]:
                last[0].append(value[t][b])
                last[1].append(reward[t][b])
                if t > 0 and not ended[t - 1][b] and not cut[t - 1][b]:
                    before_last[0].append(value[t - 1][b])
                    before_last[1].append(reward[t][b])
            if t + 1 < steps and not ended[t][b] and not cut[t][b]:
                inside[0].append(value[t + 1][b] - value[t][b])
                inside[1].append(-reward[t][b])
    assert min(len(last[0]), len(before_last[0]), len(inside[0])) >= 3
    for name, (xs, ys) in (("terminal", last), ("penultimate", before_last), ("step", inside)):
        assert number(f"value/{name}_corr", rollout) == about(slow_correlation(xs, ys), rel=1e-4)
        assert number(f"value/{name}_count", rollout) == len(xs)
    assert number("value/terminal_slope", rollout) == about(slow_slope(*last), rel=1e-4)
    assert number("value/penultimate_slope", rollout) == about(slow_slope(*before_last), rel=1e-4)
    assert number("value/final_reward_std", rollout) == about(slow_moments(last[1])[1])


NAMES = """value/terminal_corr value/terminal_count value/penultimate_corr value/penultimate_count value/step_corr
value/step_count"""


def column(*numbers_):
    return torch.tensor(numbers_, dtype=torch.float32)[:, None]


def test_hand_worked_episodes():
    """Four episodes: lengths 2, 2, 1 and 3; the third is truncated, so that the step before the fourth is no end."""
    rollout = Rollout(
        value=column(5, 1, 6, 2, 9, 7, 8, 3),
        reward=column(0, 1, 0, 2, 0, 0, 0, 3),
        terminated=column(0, 1, 0, 1, 0, 0, 0, 1).bool(),
        truncated=column(0, 0, 0, 0, 1, 0, 0, 0).bool(),
    )
    # Last states 1, 2, 3 with rewards 1, 2, 3. One before: 5, 6, 8. Inside: steps 0, 2, 5, 6; −r is always 0 there.
    found = numbers(NAMES, rollout)
    assert found == (about(1.0), 3, about(slow_correlation([5, 6, 8], [1, 2, 3])), 3, NAN, 4)
    slopes = numbers("value/terminal_slope value/penultimate_slope value/final_reward_std", rollout)
    assert slopes == (about(1.0), about(1.5), about(math.sqrt(2 / 3)))


def test_hand_worked_dense_rewards():
    """The value is what is still to come: it drops by just what is collected."""
    rewards = [1.0, 4.0, 2.0, 3.0, 5.0]
    value = [sum(rewards[t:]) for t in range(5)]
    rollout = Rollout(value=column(*value), reward=column(*rewards), terminated=column(0, 0, 0, 0, 1).bool())
    assert number("value/step_corr", rollout) == about(1.0)
    assert number("value/step_count", rollout) == 4


def test_fewer_than_three_ends_say_nothing():
    rollout = Rollout(value=column(1, 2, 3, 4), reward=column(0, 1, 0, 2), terminated=column(0, 1, 0, 1).bool())
    assert numbers("value/terminal_corr value/terminal_count", rollout) == (NAN, 2)
    assert number("value/terminal_slope", rollout) == NAN
    one = Rollout(value=column(1), reward=column(0), terminated=column(1).bool())
    assert number("value/penultimate_corr", one) is None
    assert number("value/step_corr", one) is None
    assert number("value/terminal_slope", one) is None


@pytest.mark.parametrize("reward", [0.1, -0.3, 1e3 + 0.1])
def test_a_constant_final_reward_correlates_with_nothing(reward):
    rollout = Rollout(
        value=random_rows(60, 0)[:, None],
        reward=torch.full((60, 1), reward),
        terminated=torch.ones(60, 1, dtype=torch.bool),
    )
    assert numbers("value/terminal_corr value/terminal_slope", rollout) == (NAN, NAN)


def test_a_nan_shows_only_where_it_counts():
    value, reward = column(5, 1, 6, 2, 7, 3), column(0, 1, 0, 2, 0, 3)
    ends = column(0, 1, 0, 1, 0, 1).bool()
    elsewhere = value.clone()
    elsewhere[0] = math.nan
    assert number("value/terminal_corr", Rollout(value=elsewhere, reward=reward, terminated=ends)) == about(1.0)
    here = value.clone()
    here[1] = math.nan
    assert number("value/terminal_corr", Rollout(value=here, reward=reward, terminated=ends)) == NAN


# ── traces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_traces_are_the_newest_steps_of_the_first_environment():
    rollout = random_rollout(300, 3)
    assert vector("trace/value", rollout).tolist() == about_list([row[0] for row in rollout.value.tolist()[-256:]])
    assert vector("trace/reward", rollout).tolist() == about_list([row[0] for row in rollout.reward.tolist()[-256:]])
    slow = []
    for terminated, truncated in zip(
        rollout.terminated.tolist()[-256:], rollout.truncated.tolist()[-256:], strict=True
    ):
        slow.append(1.0 if terminated[0] else 2.0 if truncated[0] else 0.0)
    assert vector("trace/end", rollout).tolist() == slow
    assert set(slow) == {0.0, 1.0, 2.0}


def about_list(values):
    return [about(each) for each in values]
