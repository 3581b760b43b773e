import torch

from rldebug.rules.optimizer.parameter_held_twice import ParameterHeldTwice
from tests.judge import fires, quiet
from tests.rules.graphs import adam, drawn, mlp, names

OBS = torch.randn(8, 4)


def graph(*, second):
    actor, critic = mlp(4, 2), mlp(4, 1)
    loss = actor(OBS).mean() + critic(OBS).mean()
    owners = {"first": adam(actor, critic), "second": adam(*second(actor, critic))} if second else {}
    return drawn(loss, owners or {"first": adam(actor), "other": adam(critic)}, actor=actor, critic=critic)


def test_fires_when_a_network_is_in_two():
    finding = names(ParameterHeldTwice(), graph(second=lambda actor, critic: [critic]))
    assert finding.message == "all of critic is in first and in second"
    assert finding.severity == "warning"


def test_fires_with_a_note_when_a_layer_is_in_two():
    assert fires(ParameterHeldTwice(), graph(second=lambda actor, critic: [actor[0]])).severity == "note"


def test_quiet_when_each_has_its_own():
    quiet(ParameterHeldTwice(), graph(second=None))
