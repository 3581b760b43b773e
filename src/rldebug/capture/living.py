"""The objects there are, as the garbage collector knows them. Only where the program has a single thread.

Among them are tuples that another thread is still filling. As long as somebody else holds one, CPython refuses to make
it shorter, and `tuple(each for each in …)` over there ends with "SystemError: bad argument to internal function".
"""

from __future__ import annotations

import gc
import threading
from typing import Any


def living(generation: int | None = None) -> list[Any] | None:
    """None where it is not safe to ask. Let go of the list soon: it keeps everything alive."""
    return gc.get_objects(generation=generation) if threading.active_count() == 1 else None
