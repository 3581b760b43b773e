"""Numbers of gradients and weights, at the same steps of every rank: as they came in, and as they were used."""

import pickle

import pytest
import torch
from torch import nn

from rldebug.capture import collectives
from tests.capture.fake import listening


def train(session, steps, change=lambda net: None, clip=None, passes=1):
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    collectives.watch.steps.begin(2)
    gradients = []
    for step in range(steps):
        optimizer.zero_grad()
        for again in range(passes):
            net(torch.full((4, 3), 1.0 + step + again)).square().mean().backward()
        gradients.append([each.grad.reshape(-1).tolist() for each in net.parameters()])
        change(net)
        if clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()
        session.updates += 1
    return net, gradients


def test_the_gradient_as_it_came_and_as_it_is_used():
    def halve(net):
        for each in net.parameters():
            each.grad /= 2

    with listening(collectives) as session:
        _, gradients = train(session, 4, halve)
    noted = session.noted("rank_step")
    assert [each["step"] for each in noted] == [0, 1, 2, 3]
    assert noted[0]["local"] is None  # nobody listened yet
    for each, came in zip(noted[1:], gradients[1:], strict=True):
        assert each["local"] == [pytest.approx(one, rel=1e-5) for one in came]
        assert each["stepped"] == [pytest.approx([0.5 * number for number in one], rel=1e-5) for one in came]
        assert each["clipped"] is None
        assert (each["how"], each["passes"]) == ("SGD", 1)


def test_clipping_is_told_apart_and_passes_are_added_up():
    with listening(collectives) as session:
        _, gradients = train(session, 3, clip=1e-3, passes=2)
    last = session.noted("rank_step")[-1]
    assert last["local"] == [pytest.approx(one, rel=1e-5) for one in gradients[-1]]
    assert last["clipped"] == [pytest.approx(one, rel=1e-5) for one in gradients[-1]]
    assert max(abs(each) for one in last["stepped"] for each in one) < 1e-3
    assert last["passes"] == 2


def test_steps_get_rare_and_weights_are_those_before_the_step():
    with listening(collectives) as session:
        train(session, 40)
    noted = session.noted("rank_step")
    assert [each["step"] for each in noted] == [*range(17), 32]
    torch.manual_seed(0)
    first = [each.detach().reshape(-1).tolist() for each in nn.Linear(3, 2).parameters()]
    assert noted[0]["weights"] == [pytest.approx(one) for one in first]


def test_nothing_of_ours_is_on_the_parameters():
    with listening(collectives) as session:
        net, _ = train(session, 3)
        assert all(not each._backward_hooks for each in net.parameters())
        pickle.dumps(net)  # warnings are errors
    with listening(collectives) as session:
        watched, _ = train(session, 5)
    torch.manual_seed(0)
    plain = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(plain.parameters(), 0.1)
    for step in range(5):
        optimizer.zero_grad()
        plain(torch.full((4, 3), 1.0 + step)).square().mean().backward()
        optimizer.step()
    for one, other in zip(watched.parameters(), plain.parameters(), strict=True):
        assert torch.equal(one, other)
