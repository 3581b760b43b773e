import torch
from torch import nn

from rldebug.rules.autograd_graph.inference_tensor_trained import InferenceTensorTrained
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_data_was_collected_under_inference_mode():
    def program():
        with torch.inference_mode():
            obs = torch.zeros(3, 2) + 1
        nn.Linear(2, 1)(obs).sum().backward()

    names(InferenceTensorTrained(), crashed(program))


def test_quiet_when_it_was_no_grad():
    def program():
        with torch.no_grad():
            obs = torch.zeros(3, 2) + 1
        nn.Linear(3, 1)(obs)

    quiet(InferenceTensorTrained(), crashed(program))
