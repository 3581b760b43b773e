"""Which rows of what a network was given a term is about."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.capture.loss_terms import terms_of
from rldebug.forensics.targets import fit_targets
from tests.watched import watched

GAMMA, STEPS = 0.9, 24


def network(last=4):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, last))


def picks(loss):
    (term,) = terms_of(loss)
    return None if term.picks is None else (term.picks[0], term.picks[1].tolist())


@pytest.mark.parametrize("shape", [(7,), (7, 2)])
def test_all_but_the_last(shape):
    out = network()(torch.randn(*shape, 3))
    lanes = shape[1] if len(shape) > 1 else 1
    expected = (7 * lanes, list(range(6 * lanes)))
    assert picks((out[..., 3][:-1] - torch.randn(6, *shape[1:])).pow(2).mean()) == expected
    dist = Categorical(logits=out[:-1, ..., :3])
    assert picks((dist.log_prob(torch.ones(6, *shape[1:])) * torch.randn(6, *shape[1:])).mean()) == expected


def test_some_by_their_numbers():
    value = network(1)(torch.randn(9, 3)).squeeze(-1)
    assert picks((value[torch.tensor([4, 0, 7])] - torch.randn(3)).pow(2).mean()) == (9, [4, 0, 7])


@pytest.mark.parametrize("loss", [nn.functional.mse_loss, nn.functional.smooth_l1_loss])
def test_halves_of_one_batch_in_a_loss_that_sums_up_itself(loss):
    """CrossQ: observations and those that follow go through the critic together."""
    for half in range(2):
        value = network(1)(torch.randn(8, 3)).squeeze(-1).chunk(2)[half]
        assert picks(loss(value, torch.randn(4))) == (8, list(range(4 * half, 4 * half + 4)))
    value = network(1)(torch.randn(8, 3)).squeeze(-1)
    assert picks(loss(value[:-1], torch.randn(7))) == (8, list(range(7)))
    assert picks(loss(value, torch.randn(8))) is None


def test_time_and_lanes_turned():
    value = network(1)(torch.randn(5, 2, 3)).squeeze(-1)
    assert picks((value.transpose(0, 1)[:, 1:] - torch.randn(2, 4)).pow(2).mean()) == (10, [2, 4, 6, 8, 3, 5, 7, 9])


def test_none_where_every_row_is_learned_from():
    value = network(1)(torch.randn(5, 3)).squeeze(-1)
    assert picks((value - torch.randn(5)).pow(2).mean()) is None
    assert picks((network()(torch.randn(5, 3)) - torch.randn(5, 4)).pow(2).mean()) is None


class Walk:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self):
        self.x = self.rng.normal(size=3).astype(np.float32)
        return self.x.copy()

    def step(self, action):
        self.x = (0.8 * self.x + 0.3 * action + self.rng.normal(size=3)).astype(np.float32)
        return self.x.copy(), float(self.x[0]), bool(self.rng.random() < 0.1), {}


def learn():
    env, net = Walk(), network()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    obs = env.reset()
    for _ in range(6):
        seen, actions, rewards, dones = [obs], [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                actions.append(int(Categorical(logits=net(torch.from_numpy(obs))[:3]).sample()))
            obs, reward, done, _ = env.step(actions[-1])
            obs = env.reset() if done else obs
            seen.append(obs)
            rewards.append(reward)
            dones.append(done)
        out = net(torch.from_numpy(np.stack(seen)))  # with the one after the last step
        value = out[:, 3]
        goes_on = 1.0 - torch.tensor(dones).float()
        target = torch.tensor(rewards) + GAMMA * goes_on * value[1:].detach()
        gained = target - value[:-1]
        logp = Categorical(logits=out[:-1, :3]).log_prob(torch.tensor(actions))
        loss = (gained.pow(2) - logp * gained.detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_a_program_that_asks_about_one_more_is_understood():
    (fit,) = (each for each in fit_targets(watched(learn)[1]) if each.what == "value")
    assert fit.name == "td"
    assert fit.gamma == pytest.approx(GAMMA, abs=1e-4)
    assert any(each.kind == "terminated" and each.way == "zero" for each in fit.endings)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body, self.head = nn.LSTM(3, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, given, turn):
        out = self.body(given)[0]
        out = out.transpose(0, 1) if turn else out
        return self.head(out.reshape(-1, 8)).squeeze(-1)


def test_sequences_that_are_turned_between_the_recurrent_layer_and_the_loss():
    given, net = torch.randn(3, 2, 3), Recurrent()
    assert picks((net(given, turn=True) - torch.randn(6)).pow(2).mean()) == (6, [0, 2, 4, 1, 3, 5])
    mask = torch.tensor([True, True, False, True, True, True])
    assert picks((net(given, turn=True)[mask] - torch.randn(5)).pow(2).mean()) == (6, [0, 2, 1, 3, 5])
    assert picks((net(given, turn=False) - torch.randn(6)).pow(2).mean()) is None
