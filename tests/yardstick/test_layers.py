"""Layers told from shapes: checked against networks whose layers are known."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import nn

from rldebug.evidence.timing import Network
from rldebug.yardstick.layers import layers_of
from rldebug.yardstick.rebuilt import Branched, Rebuilt, described


def shapes(module: nn.Module) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(each.shape) for each in module.parameters())


def mlp(*sizes: int) -> nn.Sequential:
    layers = [nn.Linear(ins, outs) for ins, outs in pairwise(sizes)]
    return nn.Sequential(*(each for layer in layers for each in (layer, nn.Tanh())))


class Agent(nn.Module):
    """Two towers, and a parameter of its own, in front of them."""

    def __init__(self) -> None:
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(1, 6))
        self.critic, self.actor = mlp(17, 64, 64, 1), mlp(17, 64, 64, 6)


def nature(actions: int = 6) -> nn.Sequential:
    convolutions = [nn.Conv2d(4, 32, 8, 4), nn.Conv2d(32, 64, 4, 2), nn.Conv2d(64, 64, 3, 1)]
    return nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(3136, 512), nn.Linear(512, actions))


@pytest.mark.parametrize(
    "module",
    [
        mlp(4, 64, 64, 2),
        Agent(),
        nature(),
        nn.Sequential(nn.Linear(4, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 2)),
        nn.ModuleList([mlp(8, 32), nn.Linear(32, 3), nn.Linear(32, 1)]),  # two heads
        nn.ModuleList([mlp(8, 16), mlp(3, 16), mlp(32, 5)]),  # two inputs, put side by side
        nn.Sequential(nn.Linear(4, 8, bias=False), nn.Linear(8, 2)),
    ],
)
def test_a_rebuilt_network_has_the_parameters_of_the_original(module):
    rebuilt = Rebuilt(Network("net", shapes(module)), rows=3)
    own = sorted(tuple(each.shape) for each in rebuilt.parameters)
    loose = [tuple(each.shape) for name, each in module.named_parameters() if name == "log_std"]
    assert sorted([*own, *loose]) == sorted(shapes(module))
    rebuilt.step()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in rebuilt.parameters)


def test_a_plain_chain_is_computed_as_one_and_towers_are_not():
    chain, towers = Rebuilt(Network("net", shapes(mlp(4, 8, 2))), 5), Rebuilt(Network("net", shapes(Agent())), 5)
    assert isinstance(chain.module, nn.Sequential)
    assert chain.forward().shape == (5, 2)
    assert isinstance(towers.module, Branched)
    assert [tuple(each.shape) for each in towers.inputs] == [(5, 17)]
    assert [tuple(each.shape) for each in towers.forward()] == [(5, 1), (5, 6)]


def test_the_size_of_pictures_follows_from_the_first_dense_layer():
    layers = layers_of(shapes(nature()))
    assert [layer.side for layer in layers] == [84, 20, 9, 0, 0]
    assert [layer.stride for layer in layers[:3]] == [4, 2, 1]
    assert layers[0].width == 4 * 84 * 84
    assert layers[0].work == 20 * 20 * 32 * 4 * 8 * 8


@pytest.mark.parametrize(
    "module",
    [
        nn.LSTM(8, 32),
        nn.Sequential(nn.Linear(4, 32), nn.GRU(32, 32)),
        nn.RNN(4, 16),
        nn.MultiheadAttention(16, 2),
        nn.Sequential(nn.Embedding(1000, 16), nn.Linear(16, 4)),
        nn.Sequential(nn.Conv1d(3, 8, 3), nn.Linear(8, 2)),
        nn.Conv2d(3, 8, 3),  # nothing says how large its pictures are
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.Linear(8 * 5, 2)),  # no square
        nn.LayerNorm(4),
    ],
)
def test_what_is_not_made_of_such_layers_is_not_rebuilt(module):
    assert layers_of(shapes(module)) == ()
    with pytest.raises(ValueError, match="cannot be told"):
        Rebuilt(Network("net", shapes(module)), rows=1)


def test_of_a_batch_that_would_take_too_long_a_part_is_measured():
    network = Network("net", shapes(nature()))
    large, small = Rebuilt(network, 1024), Rebuilt(network, 2)
    assert 1 <= large.rows < 1024
    assert large.rows * large.times == 1024
    assert (small.rows, small.times) == (2, 1.0)


def test_a_network_is_described_by_its_sizes_or_its_parameters():
    assert described(Network("net", shapes(mlp(4, 64, 64, 2)))) == "4 → 64 → 64 → 2"
    assert described(Network("net", shapes(nature()))) == "a network of 1687206 parameters"
