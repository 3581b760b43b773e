"""What the hooks of several libraries have in common: they hand over rarely, some rows of many, and do no harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.attach import Attached
from rldebug.capture.session import current

_BATCH = 256  # rows of a replay buffer that are handed over at once
_GROWN = 1.1  # times as many environment steps, at least, until there are more


class Pace:
    """When rows of a replay buffer are handed over again."""

    def __init__(self) -> None:
        self._next = 0  # environment steps

    def due(self, env_steps: int) -> bool:
        if env_steps < self._next:
            return False
        self._next = int(_GROWN * env_steps) + 1
        return True


def drawn(stored: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Places among all that is stored; drawn by a generator of our own."""
    return draw.choice(stored, min(stored, _BATCH), replace=False)


def harmless(group: str, dbg: Attached | None, what: Callable[[Attached], Any]) -> None:
    """What goes wrong in there is listed with what broke, and nothing of the group is handed over from then on."""
    session = current()
    if dbg is not None and session is not None:
        session.switch.guard(group, what, dbg)
