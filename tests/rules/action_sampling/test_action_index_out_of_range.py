import numpy as np
import torch
from torch import nn

from rldebug.rules.action_sampling.action_index_out_of_range import ActionIndexOutOfRange
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_head_has_fewer_outputs_than_actions():
    def program():
        q = nn.Linear(3, 2)(torch.zeros(4, 3))
        return q.gather(1, torch.full((4, 1), 2))

    names(ActionIndexOutOfRange(), crashed(program))


def test_quiet_when_a_buffer_is_read_beyond_its_end():
    quiet(ActionIndexOutOfRange(), crashed(lambda: np.zeros(4)[9]))
