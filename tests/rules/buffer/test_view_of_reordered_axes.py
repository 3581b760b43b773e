import torch

from rldebug.rules.buffer.view_of_reordered_axes import ViewOfReorderedAxes
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_transposed_rollout_is_viewed():
    names(ViewOfReorderedAxes(), crashed(lambda: torch.zeros(8, 4).t().view(-1)))


def test_quiet_when_the_number_of_elements_differs():
    quiet(ViewOfReorderedAxes(), crashed(lambda: torch.zeros(8, 4).view(5)))
