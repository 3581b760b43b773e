import pytest

from rldebug.rules.optimizer.clipped_before_backward import ClippedBeforeBackward
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
"""


@pytest.mark.parametrize(
    "code",
    [
        """
for rows in data:
    cost = net(rows).mean()
    opt.zero_grad()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)  # here
    cost.backward()
    opt.step()
""",
        """
class Learner:
    def __init__(self):
        self.body = nn.Linear(2, 2)
        self.adam = torch.optim.Adam(self.body.parameters())

    def learn(self, cost):
        self.adam.zero_grad(set_to_none=True)
        size = torch.nn.utils.clip_grad_value_(self.body.parameters(), 1.0)  # here
        cost.backward()
        self.adam.step()
        return size
""",
    ],
)
def test_fires_on(code):
    points_at(ClippedBeforeBackward(), HEAD + code)


@pytest.mark.parametrize(
    "lines",
    [
        ("opt.zero_grad()", "cost.backward()", "nn.utils.clip_grad_norm_(net.parameters(), 0.5)", "opt.step()"),
        # the gradients of the round before
        ("nn.utils.clip_grad_norm_(net.parameters(), 0.5)", "opt.step()", "opt.zero_grad()", "cost.backward()"),
        # of two losses, the first is clipped by itself
        (
            "opt.zero_grad()",
            "a.backward()",
            "nn.utils.clip_grad_norm_(net.parameters(), 1)",
            "b.backward()",
            "opt.step()",
        ),
        ("opt.zero_grad()", "more()", "cost.backward()", "opt.step()"),
    ],
)
def test_quiet_about(lines):
    quiet(ClippedBeforeBackward(), text(HEAD + "for rows in data:\n" + "".join(f"    {each}\n" for each in lines)))
