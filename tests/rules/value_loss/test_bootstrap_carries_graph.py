import pytest
import torch
import torch.nn.functional as F

from rldebug.rules.value_loss.bootstrap_carries_graph import BootstrapCarriesGraph
from tests.judge import quiet
from tests.rules.graphs import drawn, mlp, names

OBS, NEXT, ACTION = torch.randn(8, 4), torch.randn(8, 4), torch.randint(2, (8, 1))
REWARD, GOES_ON = torch.randn(8), torch.ones(8)


def dqn(q, compare, detached=False, discount=0.99):
    value = q(OBS).gather(1, ACTION).squeeze(1)
    target = REWARD + discount * GOES_ON * q(NEXT).max(1).values
    return compare(value, target.detach() if detached else target)


@pytest.mark.parametrize(
    "compare", [F.mse_loss, F.smooth_l1_loss, lambda a, b: ((a - b) ** 2).mean(), lambda a, b: F.mse_loss(b, a)]
)
def test_fires_when_the_target_is_made_with_a_graph(compare):
    q = mlp(4, 2)
    finding = names(BootstrapCarriesGraph(), drawn(dqn(q, compare), q=q))
    assert "no_grad" in finding.help
    assert "q" in finding.seen


@pytest.mark.parametrize("compare", [F.mse_loss, lambda a, b: ((a - b) ** 2).mean()])
def test_quiet_when_the_target_is_detached(compare):
    q = mlp(4, 2)
    quiet(BootstrapCarriesGraph(), drawn(dqn(q, compare, detached=True), q=q))


def test_quiet_when_two_views_of_one_state_are_to_agree():
    encoder = mlp(4, 8)
    quiet(BootstrapCarriesGraph(), drawn(F.mse_loss(encoder(OBS), encoder(NEXT)), encoder=encoder))


def test_quiet_when_only_the_prediction_is_rescaled():
    critic = mlp(4, 1)
    quiet(BootstrapCarriesGraph(), drawn(F.mse_loss(critic(OBS).squeeze(1) * 3 + REWARD, REWARD), critic=critic))
