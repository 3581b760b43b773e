import math

import pytest
import torch

from rldebug.rollout import Update
from tests.metrics.reading import NAN, about, number, numbers, random_rows


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_distribution_of_advantages(rows, dtype):
    values = random_rows(rows, 0, dtype, scale=2.0)
    each = values.tolist()
    mean = sum(each) / rows
    std = math.sqrt(sum((x - mean) ** 2 for x in each) / rows)
    names = "advantage/mean advantage/std advantage/min advantage/max"
    assert numbers(names, Update(advantage=values)) == (about(mean), about(std), about(min(each)), about(max(each)))


@pytest.mark.parametrize("rows", [2, 7, 64])
def test_correlation_with_the_residual(rows):
    advantage, value, target = (random_rows(rows, seed) for seed in (0, 1, 2))
    residual = [t - v for t, v in zip(target.tolist(), value.tolist(), strict=True)]
    a = advantage.tolist()
    ma, mr = sum(a) / rows, sum(residual) / rows
    top = sum((x - ma) * (y - mr) for x, y in zip(a, residual, strict=True))
    slow = top / math.sqrt(sum((x - ma) ** 2 for x in a) * sum((y - mr) ** 2 for y in residual))
    update = Update(advantage=advantage, value=value, target=target)
    assert number("advantage/residual_corr", update) == about(slow, rel=1e-4)


def test_correlation_with_the_residual_shows_the_sign():
    value, target = random_rows(50, 0), random_rows(50, 1)
    right, turned = target - value, value - target
    assert number("advantage/residual_corr", Update(advantage=right, value=value, target=target)) == about(1.0)
    assert number("advantage/residual_corr", Update(advantage=turned, value=value, target=target)) == about(-1.0)


def test_a_constant_advantage_correlates_with_nothing():
    update = Update(advantage=torch.full((64,), 0.1), value=random_rows(64, 0), target=random_rows(64, 1))
    assert number("advantage/residual_corr", update) == NAN


def test_a_nan_shows():
    update = Update(advantage=torch.tensor([math.nan, 1.0, 2.0]), value=torch.zeros(3), target=torch.arange(3.0))
    assert number("advantage/max", update) == NAN
    assert number("advantage/residual_corr", update) == NAN
