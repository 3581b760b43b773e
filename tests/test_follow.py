import numpy as np
import pytest
import torch
from torch import nn

from rldebug.evidence.script import Event
from rldebug.follow import handed_over
from tests.programs.policies import ppo
from tests.watched import watched


def term(kind, coefficient=1.0, **arrays):
    columns = {name: np.asarray(each, dtype=np.float32) for name, each in arrays.items()}
    return Event(0, "term", 0, 0, {"kind": kind, "coefficient": coefficient, "clip": None}, columns)


VALUE = term("regression", prediction=[0.0, 1.0], target=[1.0, 0.0])  # the first was better than expected


def test_values_targets_and_advantages_come_from_the_terms_of_a_loss():
    given = handed_over([term("policy", -1.0, logp=[-1, -2], weight=[1, -1]), VALUE])
    assert given["advantage"].tolist() == [1, -1]
    assert given["value"].tolist() == [0, 1]
    assert given["loss"]["value"] == 1.0


def test_a_minus_may_be_in_the_weight():
    given = handed_over([term("policy", 1.0, logp=[-1, -2], weight=[-1, 1]), VALUE])
    assert given["advantage"].tolist() == [1, -1]


def test_a_sign_that_cannot_be_told_is_not_handed_over():
    """Without a minus in the graph it is the weight's or a missing one: not for a rule about advantages."""
    given = handed_over([term("policy", 1.0, logp=[-1, -2], weight=[1, -1]), VALUE])
    assert "advantage" not in given


def test_the_old_log_probs_follow_from_the_ratio():
    given = handed_over([term("policy", -1.0, logp=[-1.0], weight=[1.0], ratio=[np.e])])
    assert given["logp_old"].tolist() == pytest.approx([-2.0])


@pytest.mark.parametrize("terms", [[], [term("other")], [term("entropy", entropy=[0.5])]])
def test_a_loss_that_says_nothing_hands_nothing_over(terms):
    assert handed_over(terms) == {}


def test_a_run_is_filled_from_what_is_seen():
    run, _ = watched(ppo)
    for name in ("grad/norm", "step/log10_ratio", "value/residual_var", "policy/kl", "advantage/mean"):
        assert name in run, name
    assert run.call("update").file is not None
    assert run.meta["state"] == "finished"
    assert run.meta["updates"] == run.meta["steps"][next(iter(run.meta["steps"]))]


def test_environments_in_a_list_are_one_to_train_in():
    import gymnasium as gym

    def program():
        net = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        envs = [gym.make("CartPole-v1", max_episode_steps=5) for _ in range(3)]
        for _ in range(4):
            for each in envs:
                each.reset(seed=0)
            for _ in range(5):
                for each in envs:
                    each.step(0)
            optimizer.zero_grad()
            net(torch.ones(1, 4)).sum().backward()
            optimizer.step()

    run, script = watched(program)
    assert len(script.streams) == 3
    assert run["episode/count"].value.sum() == 12


def test_layers_and_rewards_are_seen_and_parameters_have_the_names_of_their_networks():
    run, _ = watched(ppo)
    (table,) = {tuple(table) for _, table in run.table("parameters")}
    assert {"policy.0.weight", "critic.0.weight"} <= set(table), "from the first reading on"
    assert all(name.startswith(("policy.", "critic.", "agent.")) for name in table)
    seen = [set(table) for _, table in run.table("layers")]
    assert seen
    assert {"policy.0", "critic.0"} <= seen[-1]
    last = [each for each in run.readings if "histogram/activation/critic.0" in each.histograms][-1]
    assert "histogram/gradient/policy.0.weight" in last.histograms
    rewards = last.histograms["histogram/reward"]
    assert len(rewards) == 34
    assert sum(rewards[2:]) == last.env_step, "all of them, so far"
    assert rewards[0] < 0 < rewards[1]


def test_a_network_that_learns_later_than_the_others_is_seen_too():
    import gymnasium as gym

    def program():
        env = gym.make("CartPole-v1")
        early, late = nn.Linear(4, 1), nn.Linear(4, 1)
        optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (early, late)]
        obs, _ = env.reset(seed=0)
        for step in range(90):
            obs, _, ended, cut, _ = env.step(step % 2)
            if ended or cut:
                obs, _ = env.reset()
            x = torch.as_tensor(obs).repeat(16, 1)
            for net, optimizer in zip((early, late), optimizers, strict=True):
                if net is early or step > 24:
                    optimizer.zero_grad()
                    (net(x) - 1.0).square().mean().backward()
                    optimizer.step()

    run, _ = watched(program)
    assert set(run.meta["modules"]) == {"early", "late"}
    assert set(run.table("layers")[-1][1]) == {"early", "late"}
