import pytest

from rldebug.rules.autograd_graph.backward_under_no_grad import BackwardUnderNoGrad
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim

net = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
with torch.no_grad():
    target = net(after).max(1).values
    loss = (net(x).max(1).values - target).pow(2).mean()
    loss.backward()  # here
""",
        """
class Agent:
    @torch.inference_mode()
    def learn(self, batch):
        loss = self.net(batch).mean()
        self.opt.zero_grad()
        loss.backward()  # here
        self.opt.step()
""",
    ],
)
def test_fires_where_no_graph_is_recorded(code):
    points_at(BackwardUnderNoGrad(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "with torch.no_grad():\n    y = net(x)\nloss = (net(x) - y).mean()\nloss.backward()",
        "loss = net(x).mean()\nwith torch.no_grad():\n    loss.backward()",
        "with torch.no_grad():\n    with torch.enable_grad():\n        loss = net(x).mean()\n        loss.backward()",
        "@torch.no_grad()\ndef step(self, closure):\n    with torch.enable_grad():\n        loss = closure()\n"
        "        loss.backward()",
        "@torch.no_grad()\ndef push(loss):\n    loss.backward()",
        "with torch.set_grad_enabled(training):\n    loss = net(x).mean()\n    loss.backward()",
    ],
)
def test_quiet_where_a_graph_is_or_may_be(code):
    quiet(BackwardUnderNoGrad(), text(HEAD + code))
