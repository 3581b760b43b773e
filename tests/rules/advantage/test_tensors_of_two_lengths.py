import torch
from torch import nn

from rldebug.evidence.crash import crash_from_text
from rldebug.rules.advantage.tensors_of_two_lengths import TensorsOfTwoLengths
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_nothing_has_a_name():
    def program():
        return (lambda: torch.zeros(5))() * (lambda: torch.zeros(7))()

    names(TensorsOfTwoLengths(), crashed(program))


def test_of_a_text_it_says_no_more_than_that_two_lengths_differ():
    text = (
        'Traceback (most recent call last):\n  File "/home/me/natural.py", line 8, in product\n    return g @ v\n'
        "RuntimeError: inconsistent tensor size, expected tensor [40] and src [41] to have the same number of elements"
        ", but got 40 and 41 elements respectively\n"
    )
    crash = crash_from_text(text)
    assert crash is not None
    finding = names(TensorsOfTwoLengths(), crash)
    assert "40 and 41" in finding.message
    assert "steps" not in finding.expected + finding.help


def test_quiet_when_a_prediction_is_seen():
    def program():
        value = nn.Linear(3, 1)(torch.zeros(5, 3)).squeeze(-1)
        return value - torch.zeros(7)

    quiet(TensorsOfTwoLengths(), crashed(program))
