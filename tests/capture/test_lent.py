"""One module, called with several sets of weights, is as many networks as there are sets."""

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state

from rldebug.capture.lent import Lent, is_lent
from rldebug.capture.registry import Registry
from tests.watched import watched


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


class Asked:
    """Who each call of a module was a call of."""

    def __init__(self, module):
        self.registry, self.answers = Registry(), []
        self.lent = Lent(self.registry)
        module.register_forward_hook(lambda called, *_: self.answers.append(self.lent.network(called)))


def test_own_weights_are_the_module_itself():
    module = net()
    asked = Asked(module)
    module(torch.randn(2, 3))
    assert asked.answers == [module]


def test_other_weights_are_one_twin_that_holds_them():
    module = net()
    asked = Asked(module)
    target = {name: each.detach().clone() for name, each in module.named_parameters()}
    for _ in range(2):
        functional_call(module, target, (torch.randn(2, 3),))
    first, second = asked.answers
    assert first is second is not module
    assert [each.data_ptr() for each in first.parameters()] == [each.data_ptr() for each in target.values()]
    assert [type(each) for each in first.children()] == [type(each) for each in module.children()]


def test_own_weights_without_gradients_are_the_module_itself():
    module = net()
    asked = Asked(module)
    module(torch.randn(2, 3))
    functional_call(module, {name: each.detach() for name, each in module.named_parameters()}, (torch.randn(2, 3),))
    assert asked.answers == [module, module]


def test_weights_of_a_known_network_are_that_network():
    module, other = net(), net()
    asked = Asked(module)
    asked.registry.module(other)
    functional_call(module, {name: each.detach() for name, each in other.named_parameters()}, (torch.randn(2, 3),))
    assert asked.answers == [other]


@pytest.mark.parametrize("first", [True, False])
def test_parameters_of_a_known_network_are_that_network(first):
    """As they are, not detached: `dict(other.named_parameters())`."""
    module, other = net(), net()
    asked = Asked(module)
    asked.registry.module(other)
    if not first:
        module(torch.randn(2, 3))
    functional_call(module, dict(other.named_parameters()), (torch.randn(2, 3),))
    module(torch.randn(2, 3))
    assert asked.answers == [module] * (not first) + [other, module]


def test_new_parameters_and_networks_around_the_same_layers_are_the_module_itself():
    module = net()
    asked = Asked(module)
    asked.registry.module(nn.ModuleList(module))
    module(torch.randn(2, 3))
    module[0] = nn.Linear(3, 4)
    module(torch.randn(2, 3))
    functional_call(module, {name: each.detach() for name, each in module.named_parameters()}, (torch.randn(2, 3),))
    assert asked.answers == [module] * 3


def test_weights_that_lie_outside_of_the_parameters_are_lent_ones():
    """As tensordict lends those that are no parameters."""
    module = nn.Linear(3, 1)
    own = vars(module)["_parameters"]
    kept, vars(module)["_parameters"] = own, {}
    vars(module).update({name: each.detach().clone() for name, each in kept.items()})
    twin = Lent(Registry()).network(module)
    assert is_lent(module)
    assert [tuple(each.shape) for each in twin.parameters()] == [(1, 3), (1,)]


def test_a_module_that_keeps_a_tensor_is_not_lent_anything():
    module = net()
    module.scale = torch.ones(1)
    assert not is_lent(module)


@pytest.mark.parametrize("normalise", [nn.utils.parametrizations.weight_norm, nn.utils.spectral_norm])
def test_a_layer_that_computes_its_weight_is_not_lent_any(normalise):
    module = nn.Sequential(normalise(nn.Linear(3, 1)))
    module(torch.randn(2, 3))
    assert not is_lent(module)


def test_weights_that_were_computed_are_nobodys():
    """As in an inner loop of learning: they are made anew, and gradients lead through them."""
    module = net()
    asked = Asked(module)
    functional_call(module, {name: each * 0.9 for name, each in module.named_parameters()}, (torch.randn(2, 3),))
    assert asked.answers == [module]


def test_weights_that_are_made_for_each_call_are_nobodys():
    module = net()
    asked, kept = Asked(module), []
    for _ in range(9):
        kept.append({name: each.detach().clone() for name, each in module.named_parameters()})
        functional_call(module, kept[-1], (torch.randn(2, 3),))
    assert asked.answers[-1] is module


def test_a_target_network_of_lent_weights_is_followed():
    """The whole program: one module, and a dict of weights that follows it."""
    import gymnasium as gym

    def program():
        env = gym.make("CartPole-v1")
        q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        target = {name: each.detach().clone() for name, each in q.named_parameters()}
        optimizer = torch.optim.Adam(q.parameters(), 1e-3)
        obs, _ = env.reset(seed=0)
        rows = []
        for step in range(240):
            action = int(q(torch.as_tensor(obs)).argmax()) if step % 4 else step % 2
            after, reward, ended, cut, _ = env.step(action)
            rows.append((torch.as_tensor(obs), action, reward, torch.as_tensor(after), float(ended)))
            obs = env.reset()[0] if ended or cut else after
            if step >= 32:
                some = [rows[i] for i in torch.randint(len(rows), (32,))]
                now, taken, gain, then, over = (list(each) for each in zip(*some, strict=True))
                with torch.no_grad():
                    best = functional_call(q, target, (torch.stack(then),)).max(1).values
                    wanted = torch.tensor(gain) + 0.99 * (1 - torch.tensor(over)) * best
                said = q(torch.stack(now)).gather(1, torch.tensor(taken)[:, None])[:, 0]
                optimizer.zero_grad()
                nn.functional.mse_loss(said, wanted).backward()
                optimizer.step()
                for name, each in q.named_parameters():
                    target[name].lerp_(each.detach(), 0.05)

    _, script = watched(program)
    copies = script.things["copy"].values()
    assert [each["module"] for each in copies] == ["Sequential"]
    assert all(abs(tau - 0.05) < 1e-3 for each in copies for tau in each["taus"])


def test_an_ensemble_holds_the_weights_of_all():
    members, module = [net(), net()], net()
    asked = Asked(module)
    stacked, _ = stack_module_state(members)
    torch.vmap(lambda weights, x: functional_call(module, weights, (x,)), (0, None))(stacked, torch.randn(5, 3))
    [twin] = asked.answers
    assert [tuple(each.shape) for each in twin.parameters()] == [(2, 4, 3), (2, 4), (2, 1, 4), (2, 1)]
    assert all(one is other for one, other in zip(twin.parameters(), stacked.values(), strict=True))
