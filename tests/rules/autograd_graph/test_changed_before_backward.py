import torch
from torch import nn

from rldebug.rules.autograd_graph.changed_before_backward import ChangedBeforeBackward
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_optimizer_steps_in_between():
    def program():
        critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
        action = torch.zeros(3, 4, requires_grad=True)
        actor_loss = -critic(action).mean()
        critic(torch.ones(3, 4)).pow(2).mean().backward()
        optimizer.step()
        actor_loss.backward()

    finding = names(ChangedBeforeBackward(), crashed(program))
    assert finding.message == "optimizer.step() changed critic before this loss was propagated"


def test_fires_when_an_activation_is_changed():
    def squared():
        x = torch.zeros(3, 4, requires_grad=True).exp()
        loss = x.pow(2).sum()
        x += 1
        loss.backward()

    assert names(ChangedBeforeBackward(), crashed(squared)).message.startswith("x was changed in place")


def test_quiet_when_the_graph_was_only_used_twice():
    def program():
        loss = torch.zeros(3, requires_grad=True).exp().sum()
        loss.backward()
        loss.backward()

    quiet(ChangedBeforeBackward(), crashed(program))
