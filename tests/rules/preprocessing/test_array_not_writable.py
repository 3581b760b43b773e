import numpy as np

from rldebug.rules.preprocessing.array_not_writable import ArrayNotWritable
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_array_is_read_only():
    names(
        ArrayNotWritable(),
        crashed(saying(UserWarning("The given NumPy array is not writable, and PyTorch does not support"))),
    )


def test_quiet_when_numpy_itself_refuses_to_write():
    quiet(ArrayNotWritable(), crashed(lambda: np.broadcast_to(0.0, 3).fill(1)))
