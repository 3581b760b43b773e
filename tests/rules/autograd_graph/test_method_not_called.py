import pytest

from rldebug.rules.autograd_graph.method_not_called import MethodNotCalled
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
loss.backward  # here
""",
            id="of a loss",
        ),
        pytest.param(
            """
def learn(self):
    self.opt.zero_grad  # here
    self.loss().backward()
    self.opt.step()
""",
            id="of an optimizer",
        ),
        pytest.param(
            """
net.eval  # here
""",
            id="of a network",
        ),
    ],
)
def test_fires_on(code):
    points_at(MethodNotCalled(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
loss.backward()
""",
            id="a call",
        ),
        pytest.param(
            """
run = net.eval
f(net.train)
""",
            id="a method that is handed over",
        ),
        pytest.param(
            """
net.weight
""",
            id="another attribute",
        ),
    ],
)
def test_quiet_about(code):
    quiet(MethodNotCalled(), text(HEAD + code))
