"""Layout: what an observation that is a dictionary or a tuple is made of, in the order in which it is laid out flat."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from rldebug.capture.fingerprints import flat


@dataclass(frozen=True)
class Part:
    """For the ways back, which look at what an observation is."""

    shape: tuple[int, ...]
    dtype: str
    facts: dict[str, Any] = field(default_factory=dict)


def layout_of(value: Any) -> tuple[Part, ...]:
    """The parts of an observation, in the order in which they are put one after the other (fingerprints.flat)."""
    if isinstance(value, dict):
        return tuple(part for each in value.values() for part in layout_of(each))
    if isinstance(value, (tuple, list)):
        whole = flat(value) if not any(isinstance(each, (dict, tuple)) for each in value) else None
        if whole is None or whole.size != sum(math.prod(part.shape) for each in value for part in layout_of(each)):
            return ()
        return tuple(part for each in value for part in layout_of(each))
    array = flat(value)
    return () if array is None else (Part(array.shape, str(array.dtype)),)
