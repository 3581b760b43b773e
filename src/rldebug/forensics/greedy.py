"""Greedy: whether the actions that are executed are those with the largest value, or with the smallest."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Script
from rldebug.forensics.batches import acting
from rldebug.forensics.roles import roles_of

_STEPS = 8


@lru_cache(maxsize=8)
def followed(script: Script) -> tuple[int, int]:
    """How often the executed action had the largest, and how often the smallest value."""
    most = least = 0
    trained = roles_of(script).q
    for call in acting(script):
        if call.module not in trained:
            continue
        output = call.event.arrays.get("output0")
        orders = call.event.arrays.get("orders")
        if output is None or output.ndim != 2 or not 2 <= output.shape[1] <= 64:
            continue
        part = output if orders is None or len(orders) != len(output) else output[orders == call.order]
        places = call.places
        if len(part) != len(places):
            continue
        taken = np.where(places >= 0, call.audit.nodes.action[places, 0], np.nan)
        most += int((taken == part.argmax(axis=1)).sum())
        least += int((taken == part.argmin(axis=1)).sum())
    return most, least


def follows_least(script: Script) -> bool:
    """Values are costs here, or it cannot be told."""
    most, least = followed(script)
    return most + least < _STEPS or least > most
