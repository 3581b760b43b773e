"""The global generators of random numbers are left as they were."""

import random

import numpy as np
import pytest
import torch

from rldebug.parts.generators import generators_kept


def draw():
    return random.random(), float(np.random.random()), float(torch.rand(()))


def test_what_is_drawn_inside_changes_nothing_outside():
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)
    undisturbed = [draw(), draw()]
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)
    first = draw()
    with generators_kept(7):
        draw()
    assert [first, draw()] == undisturbed


def test_a_seed_decides_what_is_drawn_inside():
    def inside(seed):
        with generators_kept(seed):
            return draw()

    assert inside(7) == inside(7)
    assert inside(7) != inside(8)


def test_put_back_also_after_an_exception():
    def broken():
        with generators_kept(7):
            draw()
            raise KeyError

    before = random.getstate()
    with pytest.raises(KeyError):
        broken()
    assert random.getstate() == before
