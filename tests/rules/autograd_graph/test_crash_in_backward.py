import torch

from rldebug.rules.autograd_graph.crash_in_backward import CrashInBackward
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_hook_on_a_gradient_raises():
    def program():
        x = torch.zeros(2, requires_grad=True)
        x.exp().sum().backward(gradient=torch.zeros(3))

    names(CrashInBackward(), crashed(program))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInBackward(), crashed(lambda: torch.zeros(2).mean().backward()))
