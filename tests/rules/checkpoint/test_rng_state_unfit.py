import torch

from rldebug.rules.checkpoint.rng_state_unfit import RngStateUnfit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_state_is_of_floats():
    def program():
        torch.set_rng_state(torch.ones(3))

    names(RngStateUnfit(), crashed(program))


def test_quiet_when_a_seed_is_a_text():
    def program():
        torch.manual_seed("one")

    quiet(RngStateUnfit(), crashed(program))
