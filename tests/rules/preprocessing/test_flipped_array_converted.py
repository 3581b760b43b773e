import numpy as np
import torch

from rldebug.rules.preprocessing.flipped_array_converted import FlippedArrayConverted
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_image_is_flipped():
    names(FlippedArrayConverted(), crashed(lambda: torch.from_numpy(np.zeros((4, 4))[::-1])))


def test_quiet_when_it_holds_objects():
    quiet(FlippedArrayConverted(), crashed(lambda: torch.from_numpy(np.array([None, 1], dtype=object))))
