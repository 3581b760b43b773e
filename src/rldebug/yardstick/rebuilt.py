"""A network of the same layers as the user's, and one training step of it. Weights come from a generator of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from rldebug.evidence.timing import Network
from rldebug.yardstick.layers import Layer, layers_of

MOST_WORK = 1e8
"""Multiplications of one pass on the CPU, about 0.01 s: of a larger batch, a part is measured."""


class Rebuilt:
    """The network, inputs for it, and how many times more rows the user has than are measured."""

    def __init__(self, network: Network, rows: int, *, dtype: str = "", seed: int = 0) -> None:
        layers = layers_of(network.shapes)
        if not layers:
            raise ValueError(f"the layers of {network.name} cannot be told from the shapes of its parameters")
        self.device = network.device
        self.dtype: torch.dtype = getattr(torch, dtype or network.dtype)
        self._random = torch.Generator().manual_seed(seed)
        work = sum(layer.work for layer in layers)
        self.rows = rows if self.device != "cpu" else max(1, min(rows, int(MOST_WORK / work)))
        self.times = rows / self.rows
        self.module = self._module(layers)
        places = {(layer.width, layer.side): layer for layer in layers if layer.source < 0}
        self.inputs = [self._input(layer) for layer in places.values()]

    def forward(self) -> object:
        return self.module(*self.inputs)

    def step(self) -> None:
        """Forward and backward."""
        for parameter in self.parameters:
            parameter.grad = None
        loss_of(self.forward()).backward()  # type: ignore[no-untyped-call]

    @property
    def parameters(self) -> list[nn.Parameter]:
        return list(self.module.parameters())

    def _module(self, layers: tuple[Layer, ...]) -> nn.Module:
        chain = all(layer.source == i - 1 for i, layer in enumerate(layers))
        module = (
            _chain([self._modules(layer) for layer in layers], layers) if chain else Branched(self._modules, layers)
        )
        with torch.no_grad():
            for parameter in module.parameters():
                size = parameter.shape[1:].numel() if parameter.ndim > 1 else 1
                random = torch.randn(parameter.shape, generator=self._random, dtype=torch.float32, device="cpu")
                parameter.copy_(random / size**0.5)
        return module

    def _modules(self, layer: Layer) -> list[nn.Module]:
        at = {"device": self.device, "dtype": self.dtype}
        outs, ins = layer.weight[:2]
        if layer.side:
            return [_blank(nn.Conv2d, ins, outs, layer.weight[2], layer.stride, bias=layer.bias, **at)]
        made = [_blank(nn.Linear, ins, outs, bias=layer.bias, **at)]
        return [*made, _blank(nn.LayerNorm, outs, **at)] if layer.norm else made

    def _input(self, layer: Layer) -> Tensor:
        size = (layer.weight[1], layer.side, layer.side) if layer.side else (layer.width,)
        random = torch.randn((self.rows, *size), generator=self._random, dtype=torch.float32, device="cpu")
        return random.to(self.device, self.dtype)


class Branched(nn.Module):
    """Layers of which each takes the result of an earlier one, or an input. What nobody takes is the result."""

    def __init__(self, made: Callable[[Layer], list[nn.Module]], layers: tuple[Layer, ...]) -> None:
        super().__init__()
        taken = {layer.source for layer in layers}
        places = list(dict.fromkeys((layer.width, layer.side) for layer in layers if layer.source < 0))
        self._inputs = [places.index((layer.width, layer.side)) if layer.source < 0 else -1 for layer in layers]
        self._sources = [layer.source for layer in layers]
        self._ends = [i for i in range(len(layers)) if i not in taken]
        self.layers = nn.ModuleList()
        for i, layer in enumerate(layers):
            flat = [nn.Flatten()] if not layer.side and layer.source >= 0 and layers[layer.source].side else []
            self.layers.append(nn.Sequential(*flat, *made(layer), *([nn.ReLU()] if i in taken else [])))

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        results: list[Tensor] = []
        for layer, source, place in zip(self.layers, self._sources, self._inputs, strict=True):
            results.append(layer(inputs[place] if source < 0 else results[source]))
        return tuple(results[i] for i in self._ends)


def _blank(kind: type[nn.Module], *sizes: int, **options: Any) -> nn.Module:
    """Without a start of its own, which would be drawn from the global generator."""
    made: nn.Module = skip_init(kind, *sizes, **options)  # type: ignore[no-untyped-call]
    return made


def _chain(made: list[list[nn.Module]], layers: tuple[Layer, ...]) -> nn.Sequential:
    """A plain chain is a Sequential, which `Ensemble` has a short way for."""
    modules: list[nn.Module] = []
    for i, each in enumerate(made):
        if i and layers[i - 1].side and not layers[i].side:
            modules.append(nn.Flatten())
        modules += each
        if i + 1 < len(made):
            modules.append(nn.ReLU())
    return nn.Sequential(*modules)


def loss_of(results: object) -> Tensor:
    parts = results if isinstance(results, tuple) else (results,)
    losses = [each.square().mean() for each in parts if isinstance(each, Tensor)]
    return losses[0] if len(losses) == 1 else torch.stack(losses).sum()


def described(network: Network) -> str:
    """ "4 → 64 → 64 → 2" for a chain; else so many parameters."""
    layers = layers_of(network.shapes)
    chain = all(layer.source == i - 1 for i, layer in enumerate(layers)) and layers
    if not chain or len(layers) > 6 or layers[0].side:
        return f"a network of {network.parameters} parameters"
    return " → ".join(str(each) for each in (layers[0].width, *(layer.weight[0] for layer in layers)))
