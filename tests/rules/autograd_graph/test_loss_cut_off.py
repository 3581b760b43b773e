import torch

from rldebug.rules.autograd_graph.loss_cut_off import LossCutOff
from tests.judge import quiet
from tests.rules.graphs import drawn, mlp, names


def losses(detached):
    actor, critic, obs = mlp(4, 2), mlp(4, 1), torch.randn(8, 4)
    with torch.set_grad_enabled(not detached):
        value = critic(obs).squeeze(-1).pow(2).mean()
    return {"policy": actor(obs).log_softmax(-1)[:, 0].mean(), "value": value}, {"actor": actor, "critic": critic}


def test_fires_when_the_value_loss_is_made_under_no_grad():
    given, modules = losses(True)
    finding = names(LossCutOff(), drawn(given, **modules))
    assert "value" in finding.message
    assert "policy" in finding.seen


def test_quiet_when_both_carry_a_graph():
    given, modules = losses(False)
    quiet(LossCutOff(), drawn(given, **modules))
