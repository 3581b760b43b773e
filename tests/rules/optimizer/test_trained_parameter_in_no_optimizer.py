import copy

import torch

from rldebug.rules.optimizer.trained_parameter_in_no_optimizer import TrainedParameterInNoOptimizer
from tests.judge import fires, not_enough, quiet
from tests.rules.graphs import adam, drawn, mlp, names

OBS = torch.randn(8, 4)


def actor_critic():
    actor, critic = mlp(4, 2), mlp(4, 1)
    return actor, critic, actor(OBS).log_softmax(-1)[:, 0].mean() + critic(OBS).pow(2).mean()


def test_fires_when_the_critic_was_left_out():
    actor, critic, loss = actor_critic()
    graph = drawn(loss, {"optimizer": adam(actor)}, actor=actor, critic=critic)
    finding = names(TrainedParameterInNoOptimizer(), graph)
    assert finding.message.startswith("critic is in no optimizer")
    assert "critic.0.weight" in finding.seen


def test_fires_when_the_optimizer_holds_a_copy():
    actor = mlp(4, 2)
    graph = drawn(actor(OBS).mean(), {"optimizer": adam(copy.deepcopy(actor))}, actor=actor)
    finding = fires(TrainedParameterInNoOptimizer(), graph)
    assert finding.severity == "error"
    assert "4 tensors" in finding.seen


def test_quiet_when_all_are_held():
    actor, critic, loss = actor_critic()
    graph = drawn(loss, {"optimizer": adam(actor, critic)}, actor=actor, critic=critic)
    quiet(TrainedParameterInNoOptimizer(), graph)


def test_quiet_when_a_loss_goes_through_it_to_train_another():
    actor, reward = mlp(4, 2), mlp(2, 1)
    graph = drawn(-reward(actor(OBS)).mean(), {"optimizer": adam(actor)}, actor=actor, reward=reward)
    quiet(TrainedParameterInNoOptimizer(), graph)


def test_optimizers_must_be_given():
    actor = mlp(4, 2)
    assert "optimizers" in not_enough(TrainedParameterInNoOptimizer(), drawn(actor(OBS).mean(), actor=actor))
