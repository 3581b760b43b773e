"""What counts as a network, whatever it is handed its rows in; and to which step of the optimizer a loss belongs."""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture.networks import is_table, tensors_in
from tests.watched import watched


class Table:
    """Entries by name, and no mapping: as Tianshou's Batch."""

    def __init__(self, **entries):
        vars(self).update(entries)

    def __getitem__(self, name):
        return vars(self)[name]


@dataclass
class Record:
    obs: np.ndarray


@pytest.mark.parametrize("value", [Table(obs=1), Record(np.zeros(1))])
def test_entries_by_name_are_a_table(value):
    assert is_table(value)


class Frames:
    """Stacked when they are asked for."""

    def __getitem__(self, place):
        return np.zeros(2)

    def __array__(self, dtype=None, copy=None):
        return np.zeros((4, 2))


@pytest.mark.parametrize(
    "value", [Frames(), {}, [], (), "text", b"", 3, None, torch.zeros(2), np.zeros(2), torch.Size([1]), nn.Linear(1, 1)]
)
def test_what_holds_numbers_or_nothing_is_none(value):
    assert not is_table(value)


class Net(nn.Module):
    """Makes a tensor of what it is given."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, obs):
        return self.layers(torch.as_tensor(obs, dtype=torch.float32))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = Net(), Net()

    def forward(self, table):
        return self.actor(table["obs"])


def test_a_network_that_is_given_arrays_within_a_table_acts():
    def program():
        env, policy = gym.make("CartPole-v1"), Policy()
        obs, _ = env.reset(seed=0)
        for _ in range(20):
            after = env.step(int(policy(Table(obs=obs[None])).argmax()))
            obs = env.reset()[0] if after[2] else after[0]

    _, script = watched(program)
    calls = [call for _, call in script.events("call")]
    assert {(call["module"], call["acting"], call["match"]) for call in calls} == {("actor", True, "raw")}


class Noisy(Net):
    def forward(self, obs):
        said = super().forward(obs)
        return said + torch.randn_like(said)


@pytest.mark.parametrize(("made", "drew"), [(Net, False), (Noisy, True)])
def test_a_network_that_draws_numbers_while_it_acts(made, drew):
    def program():
        env, net = gym.make("CartPole-v1"), made()
        obs, _ = env.reset(seed=0)
        for _ in range(20):
            torch.randn(1)  # outside of it
            after = env.step(int(net(obs).argmax()))
            obs = env.reset()[0] if after[2] else after[0]

    _, script = watched(program)
    calls = [call for _, call in script.events("call") if call["acting"]]
    assert calls
    assert all(bool(call.get("drew")) == drew for call in calls)


def test_losses_that_are_computed_together_belong_to_the_same_step():
    """The first optimizer steps before the second loss is run backward: its rows were asked about before that."""

    def program():
        env, policy = gym.make("CartPole-v1"), Policy()
        optims = [torch.optim.Adam(each.parameters(), 1e-3) for each in (policy.actor, policy.critic)]
        obs, _ = env.reset(seed=0)
        for _ in range(4):
            rows = []
            for _ in range(16):
                after = env.step(int(policy.actor(obs).argmax()))
                rows.append(obs)
                obs = env.reset()[0] if after[2] else after[0]
            batch = torch.as_tensor(np.stack(rows))
            losses = [(net(batch) - 1.0).square().mean() for net in (policy.actor, policy.critic)]
            for loss, optim in zip(losses, optims, strict=True):
                optim.zero_grad()
                loss.backward()
                optim.step()

    _, script = watched(program)
    updates = {name: [] for name in ("actor", "critic")}
    for _, term in script.events("term"):
        updates[term["reached"][0].rpartition(".")[2]].append(term.update)
    assert updates["actor"]
    assert updates["actor"] == updates["critic"]


def test_an_observation_and_a_state_may_be_one_argument():
    """As in `model((obs, (hx, cx)))`."""
    obs, hx, cx = torch.zeros(1, 4), torch.zeros(1, 8), torch.ones(1, 8)
    found = list(tensors_in((((obs, (hx, cx)),), {})))
    assert [id(each) for each in found] == [id(obs), id(hx), id(cx)]
