import random
from collections import deque

import numpy as np
import pytest
import torch

from rldebug.rules.buffer.sampled_before_filled import SampledBeforeFilled
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_memory_is_still_small():
    def program():
        memory = deque([(0, 1)] * 4, maxlen=100)
        return random.sample(memory, 32)

    assert "memory is a deque of 4" in names(SampledBeforeFilled(), crashed(program)).seen


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.default_rng(0).choice(0, 4),
        lambda: np.random.default_rng(0).choice(3, 4, replace=False),
        lambda: np.random.default_rng(0).integers(0, 0, 4),
        lambda: torch.randint(0, 0, (4,)),
        lambda: random.choice([]),
    ],
)
def test_fires_for_every_way_to_draw(draw):
    names(SampledBeforeFilled(), crashed(draw))


def test_quiet_when_the_end_of_the_memory_is_passed():
    quiet(SampledBeforeFilled(), crashed(lambda: deque([1])[4]))
