import pytest

from rldebug.rules.optimizer.cleared_before_step import ClearedBeforeStep
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
    loss = net(batch).mean()
    loss.backward()
    opt.zero_grad()  # here
    opt.step()
""",
            id="a script",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
def learn(loss):
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.zero_grad(set_to_none=True)  # here
    opt.step()
""",
            id="with clipping between",
        ),
    ],
)
def test_fires_on(code):
    points_at(ClearedBeforeStep(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
opt.zero_grad()
loss.backward()
opt.step()
""",
            id="the usual order",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
loss.backward()
opt.step()
opt.zero_grad()
""",
            id="cleared after the step",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
other = torch.optim.SGD(net.parameters(), 1)
a.backward()
other.zero_grad()
opt.step()
""",
            id="another optimizer",
        ),
        pytest.param(
            """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
a.backward()
opt.step()
opt.zero_grad()
b.backward()
opt.step()
""",
            id="one loss after the other",
        ),
    ],
)
def test_quiet_about(code):
    quiet(ClearedBeforeStep(), text(HEAD + code))
