"""Schedules that are classes, functions that make functions, or functions of the step alone."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rldebug.evidence.verification import Verification
from rldebug.oracles.bag import Bag
from rldebug.oracles.names import BAGS, meant, plain
from rldebug.oracles.oracle import Oracle, Quantity

CLOCK = "clock_of_the_case"
_ASKED = ("__call__", "value", "get", "get_value", "get_epsilon", "epsilon", "eps", "get_eps", "at", "__getitem__")
_MOVED = (
    "step",
    "update",
    "decay",
    "anneal",
    "next",
    "update_epsilon",
    "decay_epsilon",
    "decrement",
    "decrement_epsilon",
    "tick",
)
_HELD = ("epsilon", "eps", "value", "current", "current_epsilon", "epsilon_value", "current_eps", "e")
_TIME = Quantity(
    "t",
    "t step steps timestep time_step global_step current_step frame frame_idx episode n i iteration steps_done x "
    "time idx step_count current_timestep env_step epoch it itr k ts tick j game games trial",
)
_LEFT = Quantity("left", "progress_remaining remaining progress")


def adapt(target: Any, known: Sequence[Quantity]) -> Callable[..., Any] | None:
    """A class, or a function that returns a function, as a function that also takes the clock of the case."""
    if not callable(target):
        return None
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return None
    if not inspect.isclass(target) and any(plain(each) in BAGS for each in signature.parameters):
        return _method(target)
    if not inspect.isclass(target) and (_takes_time(signature) or _takes_unknown(signature, known)):
        return None

    again = next((name for name in signature.parameters if plain(name) in _HELD), None)

    def called(*args: Any, **named: Any) -> Any:
        t, left = named.pop(CLOCK)
        made = target(*args, **named)
        if not isinstance(made, (int, float)):
            return _asked(made, t, left)
        if again is None or again not in named:
            return made
        for _ in range(t):  # from one ε to the next
            named[again] = target(*args, **named)
        return named[again]

    if not inspect.isclass(target):
        functools.update_wrapper(called, target)
    clock = inspect.Parameter(CLOCK, inspect.Parameter.KEYWORD_ONLY)
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    called.__signature__ = inspect.Signature([*parameters, clock])  # type: ignore[attr-defined]
    return called


def _method(target: Callable[..., Any]) -> Callable[..., Any]:
    """A method that returns nothing: what it sets is what it gives."""

    @functools.wraps(target)
    def called(*args: Any, **named: Any) -> Any:
        returned = target(*args, **named)
        bags = [each for each in (*args, *named.values()) if isinstance(each, Bag)]
        set_ = {plain(name): value for bag in bags for name, value in bag._set.items()}
        return next((set_[name] for name in _HELD if name in set_), None) if returned is None else returned

    return called


def _takes_unknown(signature: inspect.Signature, known: Sequence[Quantity]) -> bool:
    """An argument of a name that says nothing may be the step."""
    return any(each.default is each.empty and not meant(name, known) for name, each in signature.parameters.items())


def _takes_time(signature: inspect.Signature) -> bool:
    return any(meant(name, (_TIME, _LEFT)) for name in signature.parameters)


def _asked(made: Any, t: int, left: float) -> Any:
    """What a schedule gives for this step: asked for it, or moved on so many times."""
    if inspect.isroutine(made):
        return _of_step(made, t, left)
    ways = [getattr(made, name) for name in _ASKED if callable(getattr(made, name, None))]
    for way in ways:
        if _numbers(way):
            return _of_step(way, t, left)
    moves = [getattr(made, name) for name in _MOVED if callable(getattr(made, name, None))]
    for _ in range(t if moves else 0):
        moves[0]()
    for name in _HELD:
        held = getattr(made, name, None)
        if held is not None and not callable(held):
            return held
    if ways:
        if not moves:
            for _ in range(t):
                ways[0]()
        return ways[0]()
    raise TypeError("no telling how to ask it for a step: expected a method such as value(t) or a call")


def _numbers(way: Any) -> bool:
    """Whether it takes an argument."""
    try:
        return any(
            each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
            for each in inspect.signature(way).parameters.values()
        )
    except (TypeError, ValueError):
        return False


def _of_step(way: Any, t: int, left: float) -> Any:
    first = next(iter(inspect.signature(way).parameters), "t")
    return way(left if meant(first, (_LEFT,)) else t)


def examine(oracle: Oracle, target: Any, given: Mapping[str, str]) -> Verification:
    """As any function; where it takes the step alone and nothing fits, by what every schedule does."""
    from rldebug.oracles.verification import verification_of

    found = verification_of(target, dataclasses.replace(oracle, examine=None), given)
    known = any(line.startswith(("duration", "total")) for line in found.convention)
    if found.outcome == "right" or (found.matched and known) or inspect.isclass(target):
        return found
    asked = (
        target if callable(target) else next((getattr(target, each) for each in _ASKED if hasattr(target, each)), None)
    )
    if not callable(asked):
        return found
    try:
        parameters = inspect.signature(asked).parameters.values()
    except (TypeError, ValueError):
        return found
    if len([each for each in parameters if each.default is each.empty]) != 1 or len(list(parameters)) != 1:
        return found
    return _alone(asked, found)


def _alone(function: Callable[..., Any], found: Verification) -> Verification:
    """A function of the step alone: it must stay within 0 and 1, and must not rise."""
    first = next(iter(inspect.signature(function).parameters))
    steps = sorted({int(10**k * each) for k in range(7) for each in (0, 1, 2, 3, 5, 7)})
    asked = [each / steps[-1] for each in steps][::-1] if meant(first, (_LEFT,)) else steps
    try:
        values = [float(function(each)) for each in asked]
    except Exception:
        return found
    shown = f"{values[0]:.3g} at first, {values[-1]:.3g} in the end"
    matched, expected = "", ""
    if any(not math.isfinite(each) or each < 0.0 for each in values):
        matched, expected = "epsilon-schedule-not-stopped", "never below 0"
    elif values == sorted(values) and values[0] < values[-1]:
        matched, expected = "epsilon-schedule-grows", "ε that falls, or stays"
    elif len(set(values)) == 1:
        matched, expected = "epsilon-schedule-never-changes", "ε that falls"
    common: dict[str, Any] = {
        "cases": len(values),
        "notes": (),
        "table": None,
        "reason": "",
        "message": "",
        "mapping": {first: "the step"},
    }
    if matched:
        return dataclasses.replace(
            found, outcome="wrong", matched=(matched,), seen=f"ε is {shown}", expected=expected, **common
        )
    if values == sorted(values, reverse=True) and values[0] <= 1.0:
        note = f"start, end and duration are its own ({shown}): only checked that ε falls, and stays within 0 and 1"
        return dataclasses.replace(found, outcome="right", seen="", expected="", **{**common, "notes": (note,)})
    return found
