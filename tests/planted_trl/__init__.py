"""Bugs in training a language model with TRL, planted one by one in a small sound program; `job.py` is that program.

Each file has a docstring that says what is wrong, EXPECT, the rule that must name it first, and `plant(job)`, which
makes the mistake: a setting, a reward function, a tokenizer, or a trainer of one's own.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def names() -> list[str]:
    return sorted(each.name for each in pkgutil.iter_modules(__path__) if each.name != "job")


def planted(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
