import pytest
import torch
from torch import nn

from rldebug.rules.optimizer.gradient_norm_not_finite import GradientNormNotFinite
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def program(loss_of):
    net = nn.Linear(4, 1)
    loss = loss_of(net(torch.zeros(3, 4)) - net.bias)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)


def test_fires_when_only_the_derivative_is_not_finite():
    finding = names(GradientNormNotFinite(), crashed(lambda: program(lambda out: out.sqrt().sum())))
    assert "net.weight" in finding.message
    assert "the values in reach are finite" in finding.seen
    assert "set_detect_anomaly" in finding.help


def test_fires_when_the_loss_is_infinite():
    finding = names(GradientNormNotFinite(), crashed(lambda: program(lambda out: (out + 1).sum() / 0.0)))
    assert "the values loss" in finding.seen
    assert finding.help == "look at where loss comes from"


@pytest.mark.filterwarnings("ignore")
def test_quiet_when_another_error_ends_it():
    quiet(GradientNormNotFinite(), crashed(lambda: nn.utils.clip_grad_norm_([torch.zeros(1)], "wide")))
