"""Numbers for each sequence are found in variables, and in what they hold."""

import sys
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import torch

from rldebug.capture.token_variables import held

Batch = namedtuple("Batch", "rewards other")


@dataclass
class Sample:
    tokens: list = field(default_factory=list)
    logps: list = field(default_factory=list)
    reward: float = 0.0


def found(**kept):
    return dict(held(sys._getframe(), {3}))


def test_a_tuple_with_names():
    kept = found(batch=Batch(torch.tensor([1.0, 2.0, 3.0]), "x"))
    np.testing.assert_array_equal(kept["kept['batch'].rewards"], [1, 2, 3])


def test_a_list_of_steps_is_one_array():
    kept = found(steps=[torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])])
    np.testing.assert_array_equal(kept["kept['steps']"], [[1, 4], [2, 5], [3, 6]])


def test_fields_of_objects_are_put_together():
    samples = [Sample([1, 2], [-0.5, -1.5], 0.5), Sample([3], [-0.25], 1.5), Sample([4, 5], [-1.0, -2.0]), Sample([6])]
    kept = found(samples=samples)
    np.testing.assert_array_equal(kept["kept['samples'][].reward"], [0.5, 1.5, 0, 0])
    np.testing.assert_array_equal(kept["kept['samples'][].tokens"], [[1, 2], [3, -1], [4, 5], [6, -1]])
    assert kept["kept['samples'][].logps"][1, 0] == -0.25
    assert np.isnan(kept["kept['samples'][].logps"][1, 1])


def test_vectors_of_different_lengths_are_filled_up():
    kept = found(logps=[torch.tensor([-0.5, -1.5]), torch.tensor([-0.25]), torch.tensor([-1.5]), torch.tensor([-2.5])])
    np.testing.assert_array_equal(kept["kept['logps'][]"][:, 0], [-0.5, -0.25, -1.5, -2.5])
    assert np.isnan(kept["kept['logps'][]"][1, 1])


def test_sequences_may_lie_side_by_side():
    kept = found(steps=torch.ones(5, 3), other=torch.ones(5, 4))
    assert list(kept) == ["kept['steps']"]


def test_floats_come_first():
    kept = found(**{f"whole{number}": torch.arange(3) for number in range(60)}, weights=torch.rand(3))
    assert next(iter(kept)) == "kept['weights']"
    assert len(kept) == 32


def test_objects_of_other_people_are_left_alone():
    class Odd:
        def __getattr__(self, name):
            raise RuntimeError(name)

    assert found(odd=Odd(), text=["a", "b", "c"], mixed=[1, "a", None]) == {}
