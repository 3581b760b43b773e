import torch
from torch import nn

from rldebug.evidence.graph import Graph, Size, read_graph
from rldebug.rules.autograd_graph.graph_grows import GraphGrows
from tests.judge import fires, not_enough, quiet
from tests.watched import watched

LINE = ("train.py", 40)


def sizes(*counted):
    return Graph(sizes=tuple(Size(update, nodes, old, LINE) for update, nodes, old in counted))


def recurrent(detached, updates=40):
    def program():
        torch.manual_seed(0)
        cell, state = nn.GRUCell(3, 4), torch.zeros(1, 4)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.0)  # weights that moved would stop the backward pass
        for _ in range(updates):
            state = cell(torch.randn(1, 3), state.detach() if detached else state)
            loss = state.pow(2).mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            if detached:
                optimizer.step()

    return program


def test_fires_when_the_recurrent_state_keeps_its_graph(tmp_path):
    watched(recurrent(detached=False), tmp_path / "run")
    finding = fires(GraphGrows(), read_graph(tmp_path / "run"))
    assert "test_graph_grows.py" in finding.where.file
    assert "made before" in finding.seen


def test_quiet_when_the_state_is_detached(tmp_path):
    watched(recurrent(detached=True), tmp_path / "run")
    quiet(GraphGrows(), read_graph(tmp_path / "run"))


def test_fires_when_it_was_not_counted_to_the_end():
    capped = tuple(Size(update, 20_000, 15_000, LINE, True) for update in (64, 128))
    graph = Graph(sizes=(Size(8, 900, 0, LINE), Size(16, 9000, 5000, LINE), *capped))
    assert "20 000+" in fires(GraphGrows(), graph).seen


def test_quiet_when_episodes_grow_longer():
    quiet(GraphGrows(), sizes((1, 100, 0), (8, 300, 0), (16, 900, 0), (32, 4000, 0)))


def test_quiet_when_a_view_of_a_weight_was_made_once():
    quiet(GraphGrows(), sizes((1, 100, 0), (8, 120, 1), (16, 200, 1), (32, 900, 1)))


def test_too_early_to_tell():
    assert "4 updates" in not_enough(GraphGrows(), sizes((1, 100, 0), (8, 300, 80)))
