"""Functions as people write them: right ones in many styles, and wrong ones with the mistakes they hold.

A file per component, named like its oracle with _ for -. What is wrong here is written down by hand, in its own style,
and not with the oracle's `variant`: a name found must be found by what the function computes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Planted:
    component: str
    function: Any
    mistakes: tuple[str, ...] = ()
    map: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.component}:{self.function.__name__}"


def right(**options: Any) -> Callable[[Any], Any]:
    """Sound. `map`: the mapping it needs, where its names say nothing."""

    def mark(function: Any) -> Any:
        function.__planted__ = ((), options)
        return function

    return mark


def wrong(*mistakes: str, **options: Any) -> Callable[[Any], Any]:
    """Holds these mistakes; "…-mismatch" where none is known for it."""

    def mark(function: Any) -> Any:
        function.__planted__ = (mistakes, options)
        return function

    return mark


def components() -> list[str]:
    return sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__")


def planted(component: str) -> list[Planted]:
    module = importlib.import_module(f"tests.planted_functions.{component}")
    return [
        Planted(component.replace("_", "-"), each, each.__planted__[0], **each.__planted__[1])
        for each in vars(module).values()
        if hasattr(each, "__planted__") and getattr(each, "__module__", None) == module.__name__
    ]
