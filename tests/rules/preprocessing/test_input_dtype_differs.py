import numpy as np
import torch
from torch import nn

from rldebug.rules.preprocessing.input_dtype_differs import InputDtypeDiffers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_network_is_fed_float64():
    def program():
        return nn.Linear(4, 2)(torch.as_tensor(np.zeros((3, 4))))

    assert "a Linear was fed with (3, 4) float64" in names(InputDtypeDiffers(), crashed(program)).seen


def test_fires_when_an_image_is_fed_as_bytes():
    names(InputDtypeDiffers(), crashed(lambda: nn.Conv2d(3, 4, 3)(torch.zeros(1, 3, 8, 8, dtype=torch.uint8))))


def test_quiet_when_the_target_is_of_another_dtype():
    quiet(
        InputDtypeDiffers(),
        crashed(
            lambda: nn.functional.huber_loss(nn.Linear(1, 1)(torch.zeros(2, 1)), torch.zeros(2, 1).double()).backward()
        ),
    )


def test_names_all_that_would_be_refused_next():
    def program():
        critic = nn.Linear(3, 1)
        for now, move, gain in [[torch.zeros(4, width, dtype=torch.float64) for width in (3, 2, 1)]]:
            return critic(now) + gain + critic(torch.cat([now, move], -1))

    finding = names(InputDtypeDiffers(), crashed(program))
    assert "that is now" in finding.seen
    assert "cast now, move and gain" in finding.help
