import numpy as np
import torch

from rldebug.rules.environment.vector_flag_used_as_one import VectorFlagUsedAsOne
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_array_of_flags_is_a_condition():
    def program():
        done = np.array([True, False])
        return 1 if done else 0

    names(VectorFlagUsedAsOne(), crashed(program))


def test_fires_when_a_tensor_of_flags_is_a_condition():
    names(VectorFlagUsedAsOne(), crashed(lambda: not torch.tensor([True, False])))


def test_quiet_when_a_tensor_is_not_one_number():
    quiet(VectorFlagUsedAsOne(), crashed(lambda: torch.zeros(3).item()))
