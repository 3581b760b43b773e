"""What the watching tests share: a stand-in that watches nothing, and everything a run leaves behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


class NoWatch:
    """Looks like `rldebug.watch(...)` to a loop, and does nothing at all."""

    age = 0

    def __init__(self, **_: Any) -> None:
        pass

    def __enter__(self) -> NoWatch:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _nothing(self, *_: Any, **__: Any) -> None:
        pass

    rollout = replay = update = metric = close = _nothing


def rng_state() -> tuple[Any, ...]:
    """Of the three global generators; equal states draw equal numbers for ever after."""
    name, keys, *rest = np.random.get_state()
    return torch.get_rng_state().tolist(), name, keys.tolist(), rest, random.getstate()


def seed_everything(seed: int = 0) -> None:
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


@contextmanager
def calls_of(*classes: type) -> Iterator[list[Any]]:
    """Every call of `step` and `reset` that reaches environments of these classes, in order, with its arguments."""
    calls: list[Any] = []
    number: dict[int, int] = {}
    originals = [(each, name, getattr(each, name)) for each in classes for name in ("step", "reset")]

    def logged(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            who = number.setdefault(id(self), len(number))
            calls.append((who, name, [np.asarray(each).tolist() for each in args], repr(sorted(kwargs.items()))))
            return original(self, *args, **kwargs)

        return call

    for each, name, original in originals:
        setattr(each, name, logged(name, original))
    try:
        yield calls
    finally:
        for each, name, original in originals:
            setattr(each, name, original)


def same_weights(one: Any, two: Any) -> bool:
    """Bit for bit; NaN equals NaN."""
    first, second = list(one.parameters()), list(two.parameters())
    return len(first) == len(second) and all(
        a.shape == b.shape and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()
        for a, b in zip(first, second, strict=True)
    )
