import torch

from rldebug.rules.buffer.copied_onto_itself import CopiedOntoItself
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_history_is_shifted_in_place():
    def program():
        history = torch.zeros(4, 3)
        history[:-1] = history[1:]

    names(CopiedOntoItself(), crashed(program))


def test_quiet_when_the_rows_do_not_fit():
    def program():
        history = torch.zeros(4, 3)
        history[:-1] = history[:2]

    quiet(CopiedOntoItself(), crashed(program))
