import torch

from rldebug.rules.optimizer.frozen_parameter_in_optimizer import FrozenParameterInOptimizer
from tests.judge import fires, quiet
from tests.rules.graphs import adam, drawn, mlp, names

OBS = torch.randn(8, 4)


def graph(frozen):
    actor, critic = mlp(4, 2), mlp(2, 1)
    owners = {"actor_optimizer": adam(actor), "critic_optimizer": adam(critic)}
    frozen(critic)
    return drawn(-critic(actor(OBS)).mean(), owners, actor=actor, critic=critic)


def test_fires_when_all_of_an_optimizer_is_frozen():
    finding = names(FrozenParameterInOptimizer(), graph(lambda critic: critic.requires_grad_(False)))
    assert "critic_optimizer" in finding.message
    assert "critic.0.weight" in finding.seen


def test_fires_with_a_note_when_a_layer_is():
    assert fires(FrozenParameterInOptimizer(), graph(lambda critic: critic[0].requires_grad_(False))).severity == "note"


def test_quiet_when_nothing_is():
    quiet(FrozenParameterInOptimizer(), graph(lambda critic: None))
