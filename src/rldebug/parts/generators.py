"""The global generators of random numbers: what plays an environment leaves them as they were."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def generators_kept(seed: int | None = None) -> Iterator[None]:
    """Inside, those of Python, numpy and torch are seeded, if a seed is given; afterwards they are as they were.

    An environment, or an agent, may draw from them. Without this a training would go another way depending on whether
    something was played before it.
    """
    torch = sys.modules.get("torch")
    states = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch is not None else None
    if seed is not None:
        random.seed(seed)
        np.random.seed(seed)
        if torch is not None:
            torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch is not None:
            torch.set_rng_state(states[2])
