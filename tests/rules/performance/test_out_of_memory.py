import numpy as np
import torch

from rldebug.rules.performance.out_of_memory import OutOfMemory
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_an_array_is_too_large():
    names(OutOfMemory(), crashed(lambda: np.zeros((1 << 24, 1 << 24))))


def test_fires_when_the_gpu_is_full():
    names(OutOfMemory(), crashed(saying(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))))


def test_quiet_when_a_shape_is_negative():
    quiet(OutOfMemory(), crashed(lambda: np.zeros((-1, 3))))
