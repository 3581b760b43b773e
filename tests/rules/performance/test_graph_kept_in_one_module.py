import torch

from rldebug.rules.performance.graph_kept_in_one_module import GraphKeptInOneModule
from tests.judge import fires, not_enough, quiet
from tests.rules.graphs import drawn, mlp


def graph(freed=False):
    critic, actor = mlp(4, 1, hidden=512), mlp(4, 2)
    loss = critic(torch.randn(1024, 4)).mean() + actor(torch.randn(8, 4)).mean()
    if freed:
        loss.backward()
    return drawn(loss, critic=critic, actor=actor)


def test_fires_when_one_network_keeps_most():
    finding = fires(GraphKeptInOneModule(mebibytes=1.0), graph())
    assert finding.severity == "note"
    assert finding.message.startswith("critic keeps")


def test_quiet_when_little_is_kept():
    quiet(GraphKeptInOneModule(), graph())


def test_nothing_is_known_after_the_backward_pass():
    assert "gone" in not_enough(GraphKeptInOneModule(), graph(freed=True))
