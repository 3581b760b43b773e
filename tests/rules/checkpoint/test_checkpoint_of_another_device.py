import torch

from rldebug.rules.checkpoint.checkpoint_of_another_device import CheckpointOfAnotherDevice
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."


def test_fires_when_it_was_saved_on_a_gpu():
    names(CheckpointOfAnotherDevice(), crashed(saying(RuntimeError(TEXT))))


def test_quiet_when_the_network_is_moved_to_a_gpu():
    quiet(CheckpointOfAnotherDevice(), crashed(lambda: torch.nn.Linear(1, 1).to("cuda")))
