"""Objects that a function is handed: networks, parameters, closures. All of one call are made together, and anew.

A quantity hands over a Token; the function is wrapped by `making`, which builds what the case describes, puts it in the
place of the tokens, and reads afterwards what became of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from rldebug.oracles.bag import Bag
from rldebug.oracles.bind import SignatureError, method_of
from rldebug.oracles.oracle import Array, Case, Oracle, Quantity

SHAPES = ((2, 2), (2,), (1, 2), (1,))  # of the parameters of the tiny network: weight, bias, weight, bias
SIZE = sum(int(np.prod(shape)) for shape in SHAPES)


@dataclass(frozen=True)
class Token:
    """Stands for one of the things that `build` makes from the case."""

    name: str
    case: Case


def made(name: str, names: str, with_: tuple[str, ...] = (), meaning: str = "") -> Quantity:
    """A quantity that `build` makes. Not of kind object: no two arguments are the same one."""
    return Quantity(
        name, names, None, "int", of=functools.partial(Token, name), with_=with_, meaning=meaning or name
    )  # fmt: skip


def making(
    function: Any,
    build: Callable[[Case], Mapping[str, Any]],
    read: Callable[[Mapping[str, Any], frozenset[str], Any], Any],
    oracle: Oracle,
) -> Callable[..., Any] | None:
    """The function, with built things for tokens; `read(built, handed over, returned)` gives its outputs."""
    if inspect.isclass(function):
        try:
            function = method_of(function, oracle)
        except SignatureError:
            return None
    if not callable(function):
        return None

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        built: dict[str, Any] = {}
        handed: set[str] = set()

        def real(value: Any) -> Any:
            if isinstance(value, Token):
                if not built:
                    built.update(build(value.case))
                handed.add(value.name)
                return built[value.name]
            if isinstance(value, Bag):
                look = value._look
                object.__setattr__(value, "_look", lambda name: real(look(name)))
            return value

        with torch.enable_grad():
            returned = function(*map(real, args), **{name: real(value) for name, value in named.items()})
        return read(built, frozenset(handed), returned)

    return called


class Net(nn.Module):
    """Two linear layers, two inputs, one output; also answers get_weights and set_weights, as Keras has them."""

    def __init__(self, flat: Array) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 1)
        fill(self.parameters(), flat)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)))  # type: ignore[no-any-return]

    def get_weights(self) -> list[Array]:
        return [each.detach().numpy().copy() for each in self.parameters()]

    def set_weights(self, weights: Any) -> None:
        for each, new in zip(self.parameters(), weights, strict=True):
            each.data = torch.as_tensor(np.asarray(new), dtype=torch.float32).clone()

    trainable_weights = property(lambda self: list(self.parameters()))
    weights = property(lambda self: list(self.parameters()))


def pieces(flat: Any) -> list[Array]:
    """The flat vector as arrays of the network's shapes."""
    cut = np.split(np.asarray(flat, dtype=np.float64), np.cumsum([int(np.prod(s)) for s in SHAPES])[:-1])
    return [each.reshape(shape) for each, shape in zip(cut, SHAPES, strict=True)]


def fill(parameters: Any, flat: Any) -> None:
    for each, values in zip(parameters, pieces(flat), strict=True):
        each.data.copy_(torch.from_numpy(values))


def flat_of(thing: Any) -> Array | None:
    """All numbers of a network, of a list, of a dict or of an array, one after the other; None where there are none."""
    try:
        parts = [np.asarray(each, dtype=np.float64).ravel() for each in _arrays(thing)]
    except (TypeError, ValueError, RuntimeError):
        return None
    return np.concatenate(parts) if parts else None


def _arrays(thing: Any) -> Iterator[Any]:
    if isinstance(thing, nn.Module):
        yield from (each.detach().numpy() for each in thing.parameters())
    elif isinstance(thing, torch.Tensor):
        yield thing.detach().numpy()
    elif isinstance(thing, Mapping):
        for each in thing.values():
            yield from _arrays(each)
    elif isinstance(thing, (list, tuple)):
        for each in thing:
            yield from _arrays(each)
    elif thing is not None:
        yield np.asarray(thing, dtype=np.float64)


def tensors_of(thing: Any) -> list[torch.Tensor]:
    if isinstance(thing, nn.Module):
        return list(thing.parameters())
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, Mapping):
        return [each for each in thing.values() if isinstance(each, torch.Tensor)]
    return [each for each in thing if isinstance(each, torch.Tensor)] if isinstance(thing, (list, tuple)) else []
