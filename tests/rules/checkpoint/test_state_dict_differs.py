import torch
from torch import nn

from rldebug.rules.checkpoint.state_dict_differs import StateDictDiffers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_layer_has_another_size():
    names(StateDictDiffers(), crashed(lambda: nn.Linear(2, 3).load_state_dict(nn.Linear(2, 4).state_dict())))


def test_fires_when_names_have_a_prefix():
    def program():
        saved = {f"module.{name}": value for name, value in nn.Linear(2, 3).state_dict().items()}
        nn.Linear(2, 3).load_state_dict(saved)

    names(StateDictDiffers(), crashed(program))


def test_quiet_when_a_layer_is_fed_another_width():
    quiet(StateDictDiffers(), crashed(lambda: nn.Linear(2, 3)(torch.zeros(4))))
