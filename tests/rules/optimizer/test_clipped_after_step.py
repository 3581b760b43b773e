import pytest

from rldebug.rules.optimizer.clipped_after_step import ClippedAfterStep
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
for batch in data:
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)  # here
""",
            id="a script",
        ),
        pytest.param(
            """
class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 2)
        self.opt = torch.optim.Adam(self.net.parameters())

    def learn(self, loss):
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        norm = torch.nn.utils.clip_grad_value_(self.net.parameters(), 1.0)  # here
""",
            id="a class",
        ),
    ],
)
def test_fires_on(code):
    points_at(ClippedAfterStep(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
net(batch).mean().backward()
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
opt.step()
""",
            id="the usual order",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
a.backward()
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
opt.step()
b.backward()
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
opt.step()
""",
            id="two losses in turn",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
a.backward()
opt.step()
norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
""",
            id="a norm that is only measured",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
a.backward()
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
opt.step()
norm = nn.utils.clip_grad_norm_(net.parameters(), 9)
""",
            id="clipped before, and measured after",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
a.backward()
env.step(0)
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
opt.step()
""",
            id="a step of an environment",
        ),
    ],
)
def test_quiet_about(code):
    quiet(ClippedAfterStep(), text(HEAD + code))
