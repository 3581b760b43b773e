from __future__ import annotations

import torch
from torch import nn

from rldebug.rules.entropy.entropy_without_probabilities import EntropyWithoutProbabilities
from tests.judge import fires, quiet
from tests.programs.data import Drift
from tests.watched import watched

rule = EntropyWithoutProbabilities()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.last = nn.Linear(3, 16), nn.Linear(16, 3)

    def forward(self, x):
        return torch.log_softmax(self.last(torch.tanh(self.hidden(x))), -1)


def learn(bonus, critic=False):
    """An actor that is paid what `bonus` says of its log-probabilities; each rollout is learned from once."""
    torch.manual_seed(0)
    env, net, values = Drift(), Policy(), nn.Linear(3, 1)
    optimizer = torch.optim.Adam([*net.parameters(), *values.parameters()], 1e-2)
    obs, _ = env.reset()
    for _ in range(6):
        rows, actions, rewards = [], [], []
        for _ in range(24):
            x = torch.as_tensor(obs)
            with torch.no_grad():
                action = torch.multinomial(net(x).exp(), 1)
            rows.append(x)
            actions.append(action)
            obs, reward, ended, cut, _ = env.step(int(action))
            rewards.append(reward)
            if ended or cut:
                obs, _ = env.reset()
        x = torch.stack(rows)
        logp = net(x)
        weight = torch.tensor(rewards, dtype=torch.float32)
        loss = (
            -(logp.gather(1, torch.stack(actions))[:, 0] * weight).mean()
            - 0.01 * torch.stack([bonus(each) for each in logp.split(8)]).mean()
        )
        if critic:
            loss = loss + 0.01 * values(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_where_log_probabilities_are_added_up():
    found = fires(rule, watched(lambda: learn(lambda logp: -logp.sum(-1)))[1])
    assert found.component == "entropy"


def test_fires_where_they_are_averaged():
    fires(rule, watched(lambda: learn(lambda logp: -logp.mean(-1)))[1])


def test_quiet_for_an_entropy_and_for_the_divergence_from_a_uniform_policy():
    quiet(rule, watched(lambda: learn(lambda logp: logp.sum(-1)))[1])
    # Another output beside it is none of its business.
    quiet(rule, watched(lambda: learn(lambda logp: -(logp.exp() * logp).sum(-1), critic=True))[1])
