import torch

from rldebug.rules.performance.list_of_arrays_converted import ListOfArraysConverted
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_torch_warns():
    names(
        ListOfArraysConverted(),
        crashed(saying(UserWarning("Creating a tensor from a list of numpy.ndarrays is extremely slow."))),
    )


def test_quiet_when_rows_differ():
    quiet(ListOfArraysConverted(), crashed(lambda: torch.tensor([[1, 2], [1]])))
