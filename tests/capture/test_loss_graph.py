import torch
from torch import nn

from rldebug.capture.loss_graph import reached


def test_names_of_what_a_loss_depends_on():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    named = {id(one.weight): "one.weight", id(one.bias): "one.bias", id(two.weight): "two.weight"}
    assert reached(two(one(torch.ones(1, 2)).detach()).sum(), named) == ["two.weight"]
    assert reached(two(one(torch.ones(1, 2))).sum(), named) == ["one.bias", "one.weight", "two.weight"]
    assert reached(torch.tensor(1.0), named) is None


def test_a_graph_that_is_too_long_is_not_walked_to_its_end(monkeypatch):
    from rldebug.capture import loss_graph

    monkeypatch.setattr(loss_graph, "_NODES", 100)
    weight = nn.Parameter(torch.ones(()))
    out = weight
    for _ in range(50):
        out = out * 1.01
    assert reached(out, {id(weight): "weight"}) == ["weight"]
    for _ in range(100):
        out = out * 1.01
    assert reached(out, {id(weight): "weight"}) is None


def test_walking_runs_nothing_and_frees_nothing():
    weight = nn.Parameter(torch.tensor(3.0))
    loss = (weight * weight).exp()
    reached(loss, {id(weight): "weight"})
    loss.backward()
    assert torch.isclose(weight.grad, 6 * loss.detach())
