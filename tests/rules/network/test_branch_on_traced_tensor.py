import torch

from rldebug.rules.network.branch_on_traced_tensor import BranchOnTracedTensor
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_each_is_branched_on():
    def program():
        torch.vmap(lambda each: each if each > 0 else -each)(torch.ones(3))

    names(BranchOnTracedTensor(), crashed(program))


def test_quiet_when_noise_is_drawn_for_each():
    def program():
        torch.vmap(torch.rand_like)(torch.ones(3))

    quiet(BranchOnTracedTensor(), crashed(program))
