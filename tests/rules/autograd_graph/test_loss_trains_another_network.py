import torch
from torch import nn

from rldebug.rules.autograd_graph.loss_trains_another_network import LossTrainsAnotherNetwork
from tests.judge import quiet
from tests.rules.graphs import drawn, mlp, names

OBS, RETURNS = torch.randn(8, 4), torch.randn(8)


def actor_critic(actor, critic, detached=True):
    advantage = RETURNS - critic(OBS).squeeze(-1)
    logp = actor(OBS).log_softmax(-1)[:, 0]
    policy = -(logp * (advantage.detach() if detached else advantage)).mean()
    return {"policy": policy, "value": advantage.pow(2).mean()}


def test_fires_when_the_advantage_keeps_its_graph():
    actor, critic = mlp(4, 2), mlp(4, 1)
    finding = names(LossTrainsAnotherNetwork(), drawn(actor_critic(actor, critic, False), actor=actor, critic=critic))
    assert finding.message == "policy trains critic too, which value trains"
    assert "detach" in finding.help


def test_quiet_when_the_advantage_is_detached():
    actor, critic = mlp(4, 2), mlp(4, 1)
    quiet(LossTrainsAnotherNetwork(), drawn(actor_critic(actor, critic), actor=actor, critic=critic))


def test_quiet_when_the_actor_learns_through_the_critic():
    actor, critic, twin = mlp(4, 2), mlp(6, 1), mlp(6, 1)
    action = torch.tanh(actor(OBS))
    with_action = torch.cat([OBS, action], -1)
    given = {
        "actor": -torch.min(critic(with_action), twin(with_action)).mean(),
        "critic": critic(torch.randn(8, 6)).squeeze(-1).sub(RETURNS).pow(2).mean(),
    }
    quiet(LossTrainsAnotherNetwork(), drawn(given, actor=actor, critic=critic, twin=twin))


def test_quiet_when_the_actor_learns_through_one_of_two_critics():
    actor, critic, twin = mlp(4, 2), mlp(6, 1), mlp(6, 1)
    data = torch.randn(8, 6)
    given = {
        "critic": critic(data).squeeze(-1).sub(RETURNS).pow(2).mean()
        + twin(data).squeeze(-1).sub(RETURNS).pow(2).mean(),
        "actor": -critic(torch.cat([OBS, actor(OBS)], -1)).mean(),
    }
    quiet(LossTrainsAnotherNetwork(), drawn(given, actor=actor, critic=critic, twin=twin))


def test_quiet_when_a_trunk_is_shared():
    trunk, actor, critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2), nn.Linear(8, 1)
    features = trunk(OBS)
    given = {"policy": actor(features).log_softmax(-1)[:, 0].mean(), "value": critic(features).pow(2).mean()}
    quiet(LossTrainsAnotherNetwork(), drawn(given, trunk=trunk, actor=actor, critic=critic))


def test_quiet_when_one_loss_is_the_sum():
    actor, critic = mlp(4, 2), mlp(4, 1)
    given = actor_critic(actor, critic)
    graph = drawn(
        {"total": given["policy"] + 0.5 * given["value"], "value": given["value"]}, actor=actor, critic=critic
    )
    quiet(LossTrainsAnotherNetwork(), graph)
