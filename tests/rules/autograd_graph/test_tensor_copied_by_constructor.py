import warnings

import torch
from torch import nn

from rldebug.rules.autograd_graph.tensor_copied_by_constructor import TensorCopiedByConstructor
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_loss_is_wrapped():
    def program():
        loss = nn.Linear(3, 1)(torch.zeros(5, 3)).mean()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return torch.tensor(loss)

    names(TensorCopiedByConstructor(), crashed(program))


def test_quiet_when_a_list_of_tensors_is_wrapped():
    quiet(TensorCopiedByConstructor(), crashed(lambda: torch.tensor([torch.zeros(2), torch.zeros(2)])))
