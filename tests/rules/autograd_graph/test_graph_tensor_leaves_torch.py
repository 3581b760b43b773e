import copy

import torch
from torch import nn

from rldebug.rules.autograd_graph.graph_tensor_leaves_torch import GraphTensorLeavesTorch
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_action_goes_to_the_environment_with_its_graph():
    names(GraphTensorLeavesTorch(), crashed(lambda: nn.Linear(2, 1)(torch.zeros(2)).numpy()))


def test_fires_when_a_recurrent_state_is_copied_with_its_graph():
    names(GraphTensorLeavesTorch(), crashed(lambda: copy.deepcopy({"state": nn.Linear(2, 1)(torch.zeros(2))})))


def test_quiet_when_it_was_detached():
    quiet(GraphTensorLeavesTorch(), crashed(lambda: nn.Linear(2, 1)(torch.zeros(2)).detach().numpy()[5]))
