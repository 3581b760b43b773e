"""Rows of a layer's input, where the network changes its input itself, belong to the rows of the call."""

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture.entered import Entered
from tests.programs.data import Drift
from tests.watched import watched


def entered(given, rows, inputs, alike=lambda one, other: False):
    seen = Entered()
    seen.begin()
    seen.layer(nn.Linear(given.shape[-1], 2), (given,))
    seen.end([inputs], np.array(rows), alike)
    return seen


def test_rows_in_other_numbers_are_those_of_the_call():
    x = torch.randn(4, 2)
    seen = entered(x / 3, [5, 6, 7, 8], x)
    assert seen.find((x / 3)[[2, 0]]).tolist() == [7, 5]
    assert seen.find(x) is None
    seen.clear()
    assert seen.find(x / 3) is None


def test_two_observations_that_look_the_same_are_neither_unless_they_are_equal():
    x = torch.tensor([[1.0, 2.0], [1.0, 3.0], [2.0, 2.0]])
    found = entered(x[:, :1] / 2, [5, 6, 7], x).find(torch.tensor([[1.0], [1.0], [0.5]]))
    assert found.tolist() == [7, 7, -1]
    found = entered(x[:, :1] / 2, [5, 6, 7], x, lambda one, other: True).find(x[:, :1] / 2)
    assert found.tolist() == [6, 6, 7]


def test_axes_that_were_swapped_and_inputs_as_they_came_are_left_out():
    x = torch.randn(2, 3, 4)
    assert entered(x.swapaxes(0, 1) / 2, list(range(6)), x).find(x.swapaxes(0, 1) / 2) is None
    assert entered(x, list(range(6)), x).find(x) is None


def test_nothing_is_kept_without_gradients_or_of_what_carries_a_graph():
    x = torch.randn(4, 2)
    with torch.no_grad():
        assert entered(x / 2, [5, 6, 7, 8], x).find(x / 2) is None
    x.requires_grad_()
    assert entered(x / 2, [5, 6, 7, 8], x).find((x / 2).detach()) is None


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body((x - 0.1) / 3.0)
        return torch.log_softmax(self.pi(h), -1), self.v(h)[:, 0]


def actor_critic():
    """Values of the rollout are kept with their graph."""
    torch.manual_seed(0)
    env, net = Drift(), Scaled()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    obs, _ = env.reset()
    for _ in range(8):
        kept = []
        for _ in range(16):
            logp, value = net(torch.as_tensor(obs)[None])
            action = torch.multinomial(logp.exp(), 1)
            obs, reward, ended, cut, _ = env.step(int(action))
            kept.append((logp.gather(1, action)[0, 0], value[0], float(reward)))
            if ended or cut:
                obs, _ = env.reset()
        logp, value = (torch.stack([each[place] for each in kept]) for place in (0, 1))
        error = torch.tensor([each[2] for each in kept]) - value
        loss = (error**2).mean() - (logp * error.detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_losses_of_a_network_that_scales_itself_know_their_rows():
    script = watched(actor_critic)[1]
    terms = [term for audit in script.audits for term in audit.of("term")]
    assert terms
    # The first forward pass of a phase is over when its audit begins.
    assert all((term.arrays["rows"][1:] >= 0).all() for term in terms)
    assert {term["match"] for term in terms} == {"entered"}


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda x: (x / 255).reshape(-1, 3, 5, 6), "kept"),
        (lambda x: (x / 255).permute(0, 3, 1, 2), "moved"),
        (lambda x: (x / 255 - 0.5).movedim(-1, 1).contiguous(), "moved"),
        (lambda x: (x / 255).permute(0, 3, 1, 2) ** 2, None),
        (lambda x: (x * 0).reshape(-1, 3, 5, 6), None),
        (lambda x: (x / 255).permute(0, 3, 2, 1), None),
    ],
)
def test_whether_axes_of_a_picture_were_moved_before_the_first_layer(change, how):
    seen, picture = Entered(), torch.rand(4, 5, 6, 3) * 255
    seen.begin()
    seen.layer(torch.nn.Conv2d(3, 4, 2), (change(picture),))
    assert seen.axes([picture]).get("axes") == how
