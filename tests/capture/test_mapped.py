"""One network under vmap is one large batch; anything else is left alone."""

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state

from rldebug.capture.mapped import answers, given_to_all, is_ensemble, unmapped
from tests.watched import watched


class Reading(nn.Module):
    """Keeps what can be read of its input, and of its output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        y = self.layer(x)
        self.seen = unmapped(self, (x,)), unmapped(self, y)
        return y


def test_batches_become_rows():
    net, x = Reading(), torch.randn(2, 5, 4)
    out = torch.vmap(net)(x)
    (given,), (answer,) = net.seen
    assert torch.equal(given, x.reshape(10, 4))
    assert torch.equal(answer, out.reshape(10, 1))


def test_an_ensemble_has_several_answers():
    nets = [Reading(), Reading()]
    stacked, _ = stack_module_state(nets)
    net = Reading()
    torch.vmap(lambda weights, x: functional_call(net, weights, (x,)), (0, None))(stacked, torch.randn(5, 4))
    assert net.seen == ([], [])


class Ensemble(nn.Module):
    """Keeps what its members were given, and what each of them said."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        y = self.layer(x)
        self.seen = is_ensemble(self), given_to_all((x,)), answers(y)
        return y


def test_an_ensemble_that_is_given_one_batch_answers_once_for_each_member():
    members, net, x = [Ensemble(), Ensemble()], Ensemble(), torch.randn(5, 4)
    stacked, _ = stack_module_state(members)
    out = torch.vmap(lambda weights, x: functional_call(net, weights, (x,)), (0, None))(stacked, x)
    mapped, (given,), said = net.seen
    assert mapped
    assert torch.equal(given, x)
    assert all(map(torch.equal, said, out))


def test_members_that_are_given_the_same_rows_are_given_one_batch():
    members, net, x = [Ensemble(), Ensemble()], Ensemble(), torch.randn(5, 4)
    stacked, _ = stack_module_state(members)
    torch.vmap(lambda weights, x: functional_call(net, weights, (x,)))(stacked, x.expand(2, 5, 4))
    assert torch.equal(net.seen[1][0], x)


def test_members_that_have_batches_of_their_own_are_not_read():
    members, net = [Ensemble(), Ensemble()], Ensemble()
    stacked, _ = stack_module_state(members)
    torch.vmap(lambda weights, x: functional_call(net, weights, (x,)))(stacked, torch.randn(2, 5, 4))
    assert net.seen[1] == []


def test_one_network_under_vmap_is_no_ensemble():
    net = Ensemble()
    torch.vmap(net)(torch.randn(2, 5, 4))
    assert not net.seen[0]


def test_another_transform_is_not_read():
    net = Reading()
    grad(lambda x: net(x).sum())(torch.randn(5, 4))
    assert net.seen == ([], [])


def test_a_module_that_is_given_a_table_hands_on():
    from collections import UserDict

    import gymnasium as gym

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

        def forward(self, table):
            table["value"] = self.inner(table["obs"])
            return table

    def program():
        env, outer = gym.make("CartPole-v1"), Outer()
        optimizer = torch.optim.SGD(outer.parameters(), 0.01)
        obs, _ = env.reset(seed=1)
        for step in range(60):
            with torch.no_grad():
                outer(UserDict(obs=torch.as_tensor(obs)[None]))
            obs, _, terminated, truncated, _ = env.step(step % 2)
            if terminated or truncated:
                obs, _ = env.reset()
            if step % 20 == 19:
                optimizer.zero_grad()
                outer(UserDict(obs=torch.as_tensor(obs)[None]))["value"].sum().backward()
                optimizer.step()

    _, script = watched(program)
    calls = [event for _, event in script.events("call")]
    assert calls
    assert all("output0" in event.arrays and len(event.arrays["rows"]) for event in calls)
