import torch
from torch import nn

from rldebug.rules.autograd_graph.parameter_not_reached import ParameterNotReached
from tests.judge import fires, quiet
from tests.rules.graphs import adam, drawn, mlp, names


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(4, 2)
        self.log_std = nn.Parameter(torch.zeros(2))


def loss(policy, detached):
    mean = policy.net(torch.randn(8, 4))
    log_std = policy.log_std.detach() if detached else policy.log_std
    return torch.distributions.Normal(mean, log_std.exp()).log_prob(torch.randn(8, 2)).mean()


def test_fires_when_the_deviation_is_cut_off():
    policy = Policy()
    finding = names(ParameterNotReached(), drawn(loss(policy, True), {"adam": adam(policy)}, policy=policy))
    assert "a part of policy" in finding.message
    assert "policy.log_std" in finding.seen
    assert "adam" in finding.seen


def test_fires_with_a_note_when_a_whole_module_is_in_no_loss():
    policy, critic = Policy(), mlp(4, 1)
    graph = drawn(loss(policy, False), policy=policy, critic=critic)
    assert fires(ParameterNotReached(), graph).severity == "note"


def test_quiet_when_everything_is_reached():
    policy = Policy()
    quiet(ParameterNotReached(), drawn(loss(policy, False), {"adam": adam(policy)}, policy=policy))


def test_quiet_when_what_is_missed_is_frozen_or_in_no_optimizer():
    policy = Policy()
    quiet(ParameterNotReached(), drawn(loss(policy, True), {"adam": adam(policy.net)}, policy=policy))
    policy.log_std.requires_grad_(False)
    quiet(ParameterNotReached(), drawn(loss(policy, True), {"adam": adam(policy)}, policy=policy))
