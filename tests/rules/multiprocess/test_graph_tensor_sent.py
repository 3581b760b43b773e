import multiprocessing

import torch

from rldebug.rules.multiprocess.graph_tensor_sent import GraphTensorSent
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_value_is_sent_with_its_graph():
    def program():
        ours, _ = torch.multiprocessing.Pipe()
        ours.send(torch.nn.Linear(2, 1)(torch.zeros(3, 2)))

    names(GraphTensorSent(), crashed(program))


def test_quiet_when_a_lock_is_sent():
    def program():
        ours, _ = torch.multiprocessing.Pipe()
        ours.send(multiprocessing.Lock())

    quiet(GraphTensorSent(), crashed(program))
