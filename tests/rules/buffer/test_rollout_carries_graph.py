import pytest
import torch

from rldebug.rules.buffer.rollout_carries_graph import RolloutCarriesGraph
from tests.judge import quiet
from tests.rules.graphs import drawn, mlp, names

STEPS = 16


def collected(policy, obs, how, grad):
    with torch.set_grad_enabled(grad):
        steps = [policy(each[None]).log_softmax(-1)[:, 0] for each in obs]
        if how == "stack":
            return torch.stack(steps).squeeze(1)
        if how == "cat":
            return torch.cat(steps)
        buffer = torch.zeros(STEPS)
        for t, each in enumerate(steps):
            buffer[t] = each[0]
        return buffer


def ppo(policy, how="stack", grad=True, rows=STEPS):
    obs = torch.randn(STEPS, 4)
    old = collected(policy, obs, how, grad)
    chosen = torch.arange(rows)
    ratio = (policy(obs[chosen]).log_softmax(-1)[:, 0] - old[chosen]).exp()
    return -(ratio * torch.randn(rows)).mean()


@pytest.mark.parametrize("how", ["stack", "cat", "buffer"])
def test_fires_when_old_log_probs_keep_their_graphs(how):
    policy = mlp(4, 2)
    finding = names(RolloutCarriesGraph(), drawn(ppo(policy, how), policy=policy))
    assert f"{STEPS} steps" in finding.message
    assert "policy" in finding.seen


def test_fires_when_only_a_minibatch_is_looked_at():
    policy = mlp(4, 2)
    names(RolloutCarriesGraph(), drawn(ppo(policy, rows=8), policy=policy))


def test_quiet_when_acting_was_under_no_grad():
    policy = mlp(4, 2)
    quiet(RolloutCarriesGraph(), drawn(ppo(policy, grad=False), policy=policy))


def test_quiet_when_the_log_probs_of_acting_are_what_is_learned():
    policy = mlp(4, 2)
    logp = collected(policy, torch.randn(STEPS, 4), "stack", True)
    quiet(RolloutCarriesGraph(), drawn(-(logp * torch.randn(STEPS)).sum(), policy=policy))


def test_quiet_when_the_two_meet_only_as_terms_of_a_sum():
    policy, obs = mlp(4, 2), torch.randn(STEPS, 4)
    logp = collected(policy, obs, "stack", True)
    entropy = torch.distributions.Categorical(logits=policy(obs)).entropy().mean()
    quiet(RolloutCarriesGraph(), drawn(-(logp * torch.randn(STEPS)).mean() - 0.01 * entropy, policy=policy))
