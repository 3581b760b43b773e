from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured, Network
from rldebug.rules.performance.networks_in_python_loop import NetworksInPythonLoop
from tests.judge import quiet
from tests.rules.timings import NETWORK, by_line, on, points_at_line, timing, yardstick

LOSS = {"part": "loss", "before": "update", "after": "backward", "below": [NETWORK]}
TOGETHER = yardstick(
    Measured("ensemble", "rldebug.parts.ensemble.Ensemble of 5", 2e-4, 8e-4, {"forward": 1e-4, "forward_loop": 5e-4})
)
CRITIC = Network("critic", ((64, 4), (64,), (1, 64), (1,)), optimizer="Adam", training_rows=256)

LISTED = """
    import torch

    critics = [Critic() for _ in range(5)]
    for update in range(1000):
        with torch.no_grad():
            target = torch.stack([each(obs) for each in targets]).min(0).values  # targets
        values = [critic(obs, actions) for critic in critics]  # here
        loss = sum(mse(each, target) for each in values)
        loss.backward()
"""

MODULE = """
    from torch import nn

    class Critic(nn.Module):
        def forward(self, x):
            return self.net(x)  # inner

    class Ensemble(nn.Module):
        def __init__(self):
            self.members = nn.ModuleList([Critic() for _ in range(5)])

        def forward(self, x):
            found = []
            for i in range(5):
                found.append(self.members[i](x))  # here
            return found

    ensemble = Ensemble()
    loss(ensemble(batch)).backward()
"""


def test_fires_on_a_list_of_critics():
    made = timing(LISTED, [on("here", 2.0, called="critic", **LOSS)])
    finding = points_at_line(NetworksInPythonLoop(), made, "here")
    assert finding.speedup == pytest.approx(10 / (8 + 2 * 0.3))
    assert finding.message.startswith("5 equal networks")


def test_fires_at_the_line_of_the_loop():
    made = timing(MODULE, [on("inner", 2.0, via=["here"], **LOSS)])
    points_at_line(NetworksInPythonLoop(), made, "here")


def test_fires_with_what_it_could_take_here():
    backward = on("here", 2.0, part="backward", before="backward", after="update", called="critic")
    unlearned = on("targets", 1.0, grad=False, called="each", **LOSS)
    other = on("targets", 1.0, called=".min", **LOSS)
    parts = [on("here", 3.0, called="critic", **LOSS), backward, unlearned, other]
    made = timing(LISTED, parts, yardstick=TOGETHER)
    finding = points_at_line(NetworksInPythonLoop(), made, "here")
    behind = 2.0 * 3 / 4  # of backward, as of forward
    assert finding.speedup == pytest.approx(10 / (10 - (3 + behind) * 0.75 - 1.0 * 0.8))
    assert "0.2 ms on this machine, 0.8 ms in a loop" in finding.expected


@pytest.mark.parametrize("networks", [(CRITIC,) * 4, (Network("critics", CRITIC.shapes * 4),)])
def test_fires_on_as_many_networks_as_were_seen(networks):
    code = LISTED.replace("[Critic() for _ in range(5)]", "made(5)")
    finding = points_at_line(
        NetworksInPythonLoop(), timing(code, [on("here", 2.0, called="critic", **LOSS)], networks=networks), "here"
    )
    assert finding.message.startswith("4 equal networks")


def test_quiet_where_it_takes_little():
    quiet(NetworksInPythonLoop(), timing(LISTED, [on("here", 0.5, called="critic", **LOSS)]))


def test_quiet_about_two_unless_measured():
    code = LISTED.replace("range(5)", "range(2)")
    quiet(NetworksInPythonLoop(), timing(code, [on("here", 4.0, called="critic", **LOSS)]))
    twice = timing(code, [on("here", 4.0, called="critic", **LOSS)], yardstick=TOGETHER)
    points_at_line(NetworksInPythonLoop(), twice, "here")


def test_quiet_where_stacking_gains_nothing():
    same = yardstick(Measured("ensemble", "rldebug.parts.ensemble.Ensemble of 5", 1e-2, 1e-2, {}))
    quiet(NetworksInPythonLoop(), timing(LISTED, [on("here", 4.0, called="critic", **LOSS)], yardstick=same))


def test_quiet_about_large_networks_that_were_not_measured():
    large = Network("critic", ((2048, 2048), (2048,)))
    quiet(NetworksInPythonLoop(), timing(LISTED, [on("here", 4.0, called="critic", **LOSS)], networks=(large,) * 5))


LAYERS = """
    for update in range(1000):
        x = batch
        for layer in layers:
            x = torch.relu(layer(x))  # here
        y = batch
        for block in blocks:
            new = block(y)  # dense
            y = torch.cat([y, new], -1)
        loss(x, y).backward()
"""


@pytest.mark.parametrize(("marker", "called"), [("here", "layer"), ("dense", "block")])
def test_quiet_about_layers_that_follow_one_another(marker, called):
    several = (CRITIC,) * 5
    quiet(NetworksInPythonLoop(), timing(LAYERS, [on(marker, 4.0, called=called, **LOSS)], networks=several))


def test_quiet_about_one_network_on_many_batches():
    code = """
    for update in range(1000):
        for batch in batches:
            loss(critic(batch)).backward()  # here
    """
    several = (CRITIC,) * 5
    quiet(NetworksInPythonLoop(), timing(code, [on("here", 4.0, called="critic", **LOSS)], networks=several))


def test_fires_where_only_the_line_is_known():
    made = by_line(timing(LISTED, [on("here", 2.0, called="critic", **LOSS)]))
    points_at_line(NetworksInPythonLoop(), made, "here")


FUNCTIONAL = """
    import torch
    import torch.nn.functional as F

    HEADS = 16

    def fresh():
        return [[torch.randn(6, 48), torch.randn(48, 3)] for _ in range(HEADS)]

    def head(theta, x):
        return F.relu(x @ theta[0]) @ theta[1]  # multiplies

    def values(thetas, x):
        return torch.stack([head(theta, x) for theta in thetas])  # here

    thetas = fresh()
    solver = torch.optim.Adam([each for theta in thetas for each in theta])
    while True:
        env.step(act(obs))
        loss = values(thetas, batch).square().mean()
        loss.backward()  # backward
        solver.step()  # steps
"""
BACKWARD = {"part": "backward", "before": "backward", "after": "update"}
STEPS = {"part": "optimizer", "before": "backward", "after": "update"}


def test_fires_on_weights_without_a_module():
    asked = on("multiplies", 2.0, via=["here"], part="loss", before="step", after="backward")
    made = timing(FUNCTIONAL, [asked, on("backward", 2.0, **BACKWARD), on("steps", 4.0, **STEPS)], networks=())
    finding = points_at_line(NetworksInPythonLoop(), made, "here")
    assert finding.message == "16 equal networks are called one after another"
    assert finding.speedup == pytest.approx(10 / (2 + 8 * 1.5 / 16))


BARE_LAYERS = """
    import torch

    weights = [torch.randn(48, 48) for _ in range(16)]

    def forward(x):
        for w in weights:
            x = torch.relu(x @ w)  # here
        return x

    while True:
        env.step(act(obs))
        forward(batch).mean().backward()
"""


def test_quiet_on_layers_without_a_module():
    asked = on("here", 6.0, part="loss", before="step", after="backward")
    quiet(NetworksInPythonLoop(), timing(BARE_LAYERS, [asked], networks=()))


ROWS = """
    import torch

    weight = torch.randn(48, 48)
    while True:
        env.step(act(obs))
        loss = torch.stack([row @ weight for row in batch]).mean()  # here
        loss.backward()
"""


def test_quiet_on_rows_that_are_multiplied_one_by_one():
    asked = on("here", 6.0, part="loss", before="step", after="backward")
    quiet(NetworksInPythonLoop(), timing(ROWS, [asked], networks=()))
