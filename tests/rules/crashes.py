"""Crashes made on purpose: a small program is run to its end, and what is told of that goes to disk and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rldebug.diagnose import diagnose
from rldebug.evidence.crash import Crash, crash_of
from rldebug.finding import Finding
from rldebug.rule import Rule
from tests.judge import fires


def crashed(program: Callable[[], Any], *, env_steps: int = 100, updates: int = 10) -> Crash:
    try:
        program()
    except Exception as error:
        told = crash_of(error, env_steps=env_steps, updates=updates)
    else:
        raise AssertionError("the program ended well")
    return Crash.from_dict(json.loads(json.dumps(told.to_dict())))


def saying(error: Exception) -> Callable[[], Any]:
    """A program that ends with a given error: for those that need a GPU, or several machines."""

    def program() -> None:
        raise error

    return program


def names(rule: Rule, crash: Crash) -> Finding:
    """The rule fires, and no other does."""
    finding = fires(rule, crash)
    assert [each.code for each in diagnose([crash]).findings] == [rule.code]
    return finding
