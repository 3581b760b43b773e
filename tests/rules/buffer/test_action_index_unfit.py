import torch
from torch import nn

from rldebug.rules.buffer.action_index_unfit import ActionIndexUnfit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_actions_come_back_as_floats():
    def program():
        actions = torch.zeros(4, 1)
        return nn.Linear(3, 2)(torch.zeros(4, 3)).gather(1, actions)

    assert "actions is (4, 1) float32" in names(ActionIndexUnfit(), crashed(program)).seen


def test_fires_when_actions_lack_an_axis():
    names(ActionIndexUnfit(), crashed(lambda: torch.zeros(4, 2).gather(1, torch.zeros(4, dtype=torch.long))))


def test_quiet_when_an_index_is_too_great():
    quiet(ActionIndexUnfit(), crashed(lambda: torch.zeros(4, 2).gather(1, torch.full((4, 1), 5))))
