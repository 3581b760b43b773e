import torch
from torch import nn
from torch.optim import SGD, Optimizer

from rldebug.capture.registry import Registry, innermost


class HandsOn(Optimizer):
    """A wrapper like Accelerate's: an Optimizer by its class, made without Optimizer.__init__."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def param_groups(self):
        return self.optimizer.param_groups


def test_a_wrapper_of_an_optimizer_is_the_one_it_hands_on_to():
    registry, told = Registry(), []
    registry.on_optimizer.append(lambda name, optimizer: told.append(optimizer))
    inner = SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    name = registry.optimizer(HandsOn(HandsOn(inner)))
    assert registry.optimizer(inner) == name
    assert told == [inner]


def test_an_optimizer_that_holds_another_is_itself():
    class Lookahead(SGD):
        def __init__(self, parameters, inner):
            super().__init__(parameters, lr=0.1)
            self.inner = inner

    weights = [torch.zeros(2, requires_grad=True)]
    outer = Lookahead(weights, SGD(weights, lr=0.1))
    assert innermost(outer) is outer


def test_a_wrapper_that_holds_none_or_itself_is_left_as_it_is():
    empty = HandsOn(None)
    assert innermost(empty) is empty
    empty.optimizer = empty
    assert innermost(empty) is empty


def test_parts_own_their_parameters_where_what_holds_them_is_loaded_and_never_called():
    registry, net = Registry(), nn.ModuleDict({"value": nn.Linear(2, 1), "target": nn.Linear(2, 1)})
    ids = [id(each) for each in net["value"].parameters()]
    whole = registry.module(net)
    assert registry.owners(ids) == [whole]
    part = registry.called(net["value"])
    assert registry.owners(ids) == [part]
    assert registry.owners(map(id, net.parameters())) == sorted([part, whole])


def test_what_was_called_first_keeps_its_parameters():
    registry, net = Registry(), nn.Sequential(nn.Linear(2, 1))
    whole = registry.called(net)
    registry.called(net[0])
    assert registry.owners(map(id, net.parameters())) == [whole]


def test_parameters_are_not_taken_for_those_of_a_network_that_is_gone():
    registry, first = Registry(), nn.Linear(2, 1)
    name = registry.called(first)
    ids = [id(each) for each in first.parameters()]
    kept = list(first.parameters())  # the same places in memory, as a new network may get them
    del first
    second = nn.Linear(2, 1)
    second.weight, second.bias = kept
    other = registry.called(second)
    assert other != name
    assert registry.owners(ids) == [other]
