"""One network under vmap is one large batch; anything else is left alone."""

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state

from rldebug.capture.mapped import unmapped
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
