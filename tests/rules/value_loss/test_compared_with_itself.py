import pytest

from rldebug.rules.value_loss.compared_with_itself import ComparedWithItself
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        "import torch.nn.functional as F\nloss = F.mse_loss(target, target)  # here",
        "loss = (values - values).pow(2).mean()  # here",
        """
        from torch import nn
        class Agent:
            def __init__(self):
                self.error = nn.MSELoss()
            def update(self, obs, returns):
                guess = self.net(obs)
                goal = guess.detach()
                return self.error(guess, goal)  # here
        """,
        "loss = ((batch['ret'] - batch['ret']) ** 2).mean()  # here",
    ],
)
def test_fires_with_the_same_on_both_sides(code):
    points_at(ComparedWithItself(), code)


@pytest.mark.parametrize(
    "code",
    [
        "import torch.nn.functional as F\nloss = F.mse_loss(values, target)",
        "loss = (values - values.mean()).pow(2).mean()",
        "loss = (net(s) - net(s2)).pow(2).mean()",
        "first = values\nvalues = net(s)\nloss = (values - first).pow(2).mean()",
        "loss = (dist.sample() - dist.sample()).pow(2).mean()",
        "loss = (x[1:] - x[:-1]).pow(2).mean()",
        "out = net(s)\nkl = (out.detach() - out).pow(2).sum()\ng = torch.autograd.grad(kl, p, create_graph=True)",
    ],
)
def test_quiet_about_two_different_things(code):
    quiet(ComparedWithItself(), text(code))
