"""Small programs of many styles, with their faults."""

from __future__ import annotations

import importlib
from functools import lru_cache

from rldebug.evidence.run import Run
from rldebug.evidence.script import Script
from tests.watched import watched


@lru_cache(maxsize=16)
def seen(name: str, fault: str = "") -> tuple[Run, Script]:
    """What was seen of one of the programs; each is run once for all tests."""
    program = importlib.import_module(f"tests.wild.{name}").program
    return watched(lambda: program(fault))
