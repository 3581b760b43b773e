"""The shelf of measurements: which of them a run asks for, made within a budget, and leaving everything as it was."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import Any

from rldebug.evidence.timing import Measured, Timing

LONGEST = 0.3
"""Seconds that one measurement may take. With less of the budget left than this, none is begun."""


@cache
def yardsticks() -> tuple[Any, ...]:
    """Every file in measurements/, by name."""
    shelf = importlib.import_module("rldebug.yardstick.measurements")
    found = [importlib.import_module(f"{shelf.__name__}.{info.name}") for info in pkgutil.iter_modules(shelf.__path__)]
    return tuple(sorted(found, key=lambda module: str(module.NAME)))


def measure_all(timing: Timing, budget: float = 3.0, problems: list[str] | None = None) -> dict[str, Measured]:
    """What the run asks for, what takes most of its time first. To be called when the run has ended and is not watched.

    One that raises, or that there is no time for, is left out and named in `problems`. What numba compiles, once per
    machine, is not on the budget.
    """
    from rldebug.yardstick.undisturbed import undisturbed

    problems = [] if problems is None else problems
    wanted = []
    for module in yardsticks():
        try:
            if (shape := module.asked(timing)) is not None:
                wanted.append((module, shape))
        except Exception as error:
            problems.append(_said(module, error))
    found: dict[str, Measured] = {}
    spent = 0.0
    for module, shape in sorted(wanted, key=lambda each: -each[1].share):
        if budget - spent < LONGEST:
            problems.append(f"yardstick {module.NAME}: not measured, the {budget:g} s for all of them were used up")
            continue
        began = perf_counter()
        try:
            with undisturbed():
                if hasattr(module, "prepare"):
                    module.prepare()
                    began = perf_counter()
                found[module.NAME] = module.measure(replace(shape, limit=budget - spent))
        except Exception as error:
            problems.append(_said(module, error))
        spent += perf_counter() - began
    return found


def _said(module: Any, error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"yardstick {module.NAME}: {type(error).__name__}{': ' + text[0] if text else ''}"
