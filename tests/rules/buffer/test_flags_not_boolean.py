import torch

from rldebug.rules.buffer.flags_not_boolean import FlagsNotBoolean
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_flags_are_floats():
    def program():
        values, done = torch.zeros(3), torch.zeros(3)
        return values.masked_fill(done, 0.0)

    names(FlagsNotBoolean(), crashed(program))


def test_quiet_when_actions_are_masked():
    def program():
        logits, mask = torch.zeros(3, 2), torch.zeros(3, 2)
        return logits.masked_fill(mask, -1e9)

    quiet(FlagsNotBoolean(), crashed(program))
