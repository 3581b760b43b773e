import math

import pytest
import torch

from rldebug.rollout import Pair
from tests.metrics.reading import NAN, about, number, random_rows


def pair(dtype=torch.float32, scale=1.0):
    online = [random_rows(12, 0, dtype).reshape(3, 4), random_rows(3, 1, dtype)]
    target = [each + scale * random_rows(each.numel(), 9, dtype).reshape(each.shape) for each in online]
    return Pair(online, target)


def length(tensors):
    return math.sqrt(sum(each * each for tensor in tensors for each in tensor.reshape(-1).tolist()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_distance_relative_to_the_weights(dtype):
    both = pair(dtype)
    gap = [a - b for a, b in zip(both.online, both.target, strict=True)]
    assert number("target_net/distance", both) == about(length(gap) / length(both.online))
    assert number("target_net/fingerprint", both) == about(length(both.target))


def test_a_fresh_copy_is_at_distance_zero():
    assert number("target_net/distance", pair(scale=0.0)) == 0.0


def test_fingerprint_changes_with_the_target_and_not_with_the_network():
    both = pair()
    first = number("target_net/fingerprint", both)
    both.online[0].add_(1.0)
    assert number("target_net/fingerprint", both) == first
    both.target[0].mul_(0.999)
    assert number("target_net/fingerprint", both) != first


def test_a_nan_shows():
    both = pair()
    both.target[1][0] = math.nan
    assert number("target_net/distance", both) == NAN
    assert number("target_net/fingerprint", both) == NAN
