"""From a judgement to what is reported: how it was called, what was seen and expected, the smallest case as a table."""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.evidence.verification import Table, Verification
from rldebug.finding import Where
from rldebug.oracles.bind import SignatureError, method_of
from rldebug.oracles.call import Raised
from rldebug.oracles.compare import Fit
from rldebug.oracles.judge import DRAWN, Failure, Judgement, judge
from rldebug.oracles.layout import Unreadable, unlay
from rldebug.oracles.oracle import Oracle
from rldebug.oracles.search import sized, sizes_of

_SIGNS = {"gamma": "γ", "lam": "λ", "clip": "ε", "epsilon": "ε", "tau": "τ", "alpha": "α"}


def verification_of(
    target: Any, oracle: Oracle, given: Mapping[str, str] | None = None, *, name: str = "", drawn: int = DRAWN
) -> Verification:
    """Put a function, class or object beside the oracle. Never raises for what the user's code does."""
    began = time.perf_counter()
    called = name or str(getattr(target, "__qualname__", type(target).__name__))
    common: dict[str, Any] = {
        "oracle": oracle.name, "target": called, "where": _where(target), "formula": oracle.formula
    }  # fmt: skip
    if oracle.examine is not None:
        found = oracle.examine(target, given or {})
        return _with(found, common, time.perf_counter() - began)
    function: Callable[..., Any] | None = oracle.adapt(target) if oracle.adapt is not None else None
    adapted, kind = function is not None, target if inspect.isclass(target) else None
    try:
        if function is None:
            function = method_of(target, oracle) if inspect.isclass(target) else target
    except SignatureError as error:
        return Verification(outcome="unusable", reason=str(error), **common)
    if not callable(function):
        reason = f"{called} is {_a(type(function).__name__)}, expected a function such as {oracle.example}"
        return Verification(outcome="unusable", reason=reason, **common)
    try:
        judgement = judge(function, oracle, given, kind=kind, drawn=drawn)
    except SignatureError as error:
        return Verification(outcome="unusable", reason=str(error), **common)
    common |= {
        "notes": judgement.notes,
        "cases": judgement.cases + judgement.drawn,
        "drawn": judgement.drawn,
        # The arguments of what `adapt` made of a class are ours, and tell the user nothing.
        "mapping": {} if judgement.fit is None or (adapted and kind is not None) else _mapping(judgement.fit),
        "convention": () if judgement.fit is None else _convention(judgement.fit, oracle),
        "seconds": time.perf_counter() - began,
    }
    if judgement.fit is None:
        return Verification(outcome="unusable", reason=judgement.reason, **common)
    if judgement.failure is None and not judgement.told[0]:
        return Verification(outcome="right", **common)
    message, seen, expected, table = _told(judgement, oracle)
    return Verification(
        outcome="wrong",
        matched=tuple(each.name for each in judgement.mistakes),
        message=message,
        seen=seen,
        expected=expected,
        table=table,
        **common,
    )


def _with(found: Verification, common: Mapping[str, Any], seconds: float) -> Verification:
    return dataclasses.replace(found, **{**common, "formula": common["formula"] or found.formula}, seconds=seconds)


def _where(target: Any) -> Where:
    try:
        real = inspect.unwrap(target)
        file = inspect.getsourcefile(real)
        _, line = inspect.getsourcelines(real)
        return Where(file=None if file is None else os.path.abspath(file), line=line)
    except (TypeError, OSError, ValueError):
        return Where()


def _mapping(fit: Fit) -> dict[str, str]:
    return {name: each.meaning or each.name for name, each in fit.convention.binding.items()}


def _convention(fit: Fit, oracle: Oracle) -> tuple[str, ...]:
    convention = fit.convention
    lines = []
    if convention.layout != "as is":
        lines.append(f"layout {convention.layout}")
    if any(each.axes for each in convention.binding.values()):
        lines.append({"torch": "torch tensors", "numpy": "numpy arrays", "list": "lists"}[convention.container])
    if any(each.kind == "flag" for each in convention.binding.values()):
        lines.append("flags as bools" if convention.flags_as == "bool" else "flags as 0 and 1")
    lines += [f"{_SIGNS.get(n, n)} = {v:g} of its own" for n, v in convention.fixed.items() if _matters(n, fit, oracle)]
    if fit.style is not oracle.styles[0]:
        lines.append(fit.style.name)
    back = [each.name for each in fit.reading if each is not None]
    if back and oracle.observe is None:  # else it gives what it changes
        lines.append(f"gives {', '.join(back)}")
    return tuple(lines)


def _matters(name: str, fit: Fit, oracle: Oracle) -> bool:
    """Whether the answers hang on a number that the function brings along: 0.5 may be half of a loss, and no ε."""
    knobs, fixed = fit.style.knobs, fit.convention.fixed
    for case in (sized(each, oracle) for each in oracle.cases()):
        here, there = case.but(**fixed), case.but(**{**fixed, name: 0.5 * fixed[name]})
        if oracle.told is not None:
            here, there = (oracle.told(each, fit.convention.bound) for each in (here, there))
        one, other = oracle.variant(here, **knobs), oracle.variant(there, **knobs)
        if any(not np.allclose(one[key], other[key], equal_nan=True) for key in one if one[key] is not None):
            return True
    return False


def _told(judgement: Judgement, oracle: Oracle) -> tuple[str, str, str, Table | None]:
    fit, failure = judgement.fit, judgement.failure
    assert fit is not None
    if judgement.told[0]:
        return *judgement.told, None
    if failure is None:
        return "it differs from the reference", "", "", None
    outcome = failure.outcome
    if isinstance(outcome, Raised):
        return f"it raises on {failure.case.name}", outcome.said, "an answer", _table(fit, failure, oracle)[0]
    table, first = _table(fit, failure, oracle)
    shape = _shapes(fit, failure)
    if shape is not None:
        return "it returns another shape than expected", shape[0], shape[1], table
    if not first[0]:
        return "its gradients differ from the reference's", *_gradients(failure), table
    message = "it gives NaN" if "nan" in first[0].split() else "it differs from the reference"
    return message, *first, table


def _shapes(fit: Fit, failure: Failure) -> tuple[str, str] | None:
    assert not isinstance(failure.outcome, Raised)
    sizes = failure.case["sizes"]
    for output, element in zip(fit.reading, failure.outcome.elements, strict=False):
        if output is None:
            continue
        right = failure.right.get(output.name)
        if right is None:
            continue
        if isinstance(element.value, Unreadable):
            return f"{_a(element.value.said)} for {output.name}", "an array of numbers"
        axes = output.axes if np.ndim(right) == len(output.axes) else ""
        if unlay(element.value, axes, fit.convention.layout, sizes) is None:
            return (
                f"{output.name} of shape {tuple(element.value.shape)} on {failure.case.name}",
                f"shape {np.shape(right)}, in the layout {fit.convention.layout}",
            )
    return None


def _gradients(failure: Failure) -> tuple[str, str]:
    assert not isinstance(failure.outcome, Raised)
    pairs = [
        (name, slope, failure.right.get(f"grad:{name}"))
        for slopes in failure.outcome.gradients.values()
        for name, slope in slopes.items()
    ]
    for name, slope, right in pairs:
        has, should = slope is not None and np.any(slope), right is not None and np.any(right)
        if has != should:
            return (
                f"{'a' if has else 'no'} gradient reaches {name}, on {failure.case.name}",
                f"{'a' if should else 'no'} gradient through {name}",
            )
    for name, slope, right in pairs:
        if right is not None and slope is not None and not np.allclose(np.ravel(slope), np.ravel(right), atol=1e-4):
            return f"the gradient for {name} is {figure(slope)}, on {failure.case.name}", figure(right)
    return "", ""


def _table(fit: Fit, failure: Failure, oracle: Oracle) -> tuple[Table | None, Any]:
    """Rows along the first axes of the output that differs first, or a single row for a number."""
    case, sizes = failure.case, failure.case["sizes"]
    for output, element in zip(
        fit.reading, () if isinstance(failure.outcome, Raised) else failure.outcome.elements, strict=False
    ):
        if output is None or failure.right.get(output.name) is None or isinstance(element.value, Unreadable):
            continue
        right = np.asarray(failure.right[output.name])
        axes = output.axes if right.ndim == len(output.axes) else ""
        theirs = unlay(element.value, axes, fit.convention.layout, sizes)
        if theirs is None or np.allclose(theirs, right, rtol=oracle.tolerance, atol=1e-5, equal_nan=True):
            continue
        return _rows(case, output.name, axes, theirs, right, oracle, fit)
    return _rows(case, None, "", np.zeros(()), np.zeros(()), oracle, fit)[0], ("", "")


def _rows(
    case: Any, name: str | None, axes: str, theirs: Any, right: Any, oracle: Oracle, fit: Fit
) -> tuple[Table, tuple[str, str]]:
    """The arguments as they were handed over, under the names the user gave them; theirs and ours beside them."""
    taken = [(slot, each, each.take(case)) for slot, each in fit.convention.binding.items() if each.axes is not None]
    per_row = bool(_leading(axes))
    leading = _leading(axes) or next(
        (_leading(each.axes or "") for _, each, _ in taken if _leading(each.axes or "")), ""
    )
    sizes = sizes_of(case, oracle)
    shape = tuple(sizes[axis] for axis in leading)
    along = [
        (slot, value)
        for slot, each, value in taken
        if leading and (each.axes or "").replace("U", "T").startswith(leading)
    ]
    apart = [(slot, value) for slot, _, value in taken if slot not in dict(along)]
    apart += [(each, case[each]) for each in fit.convention.fixed]
    several = "B" in leading and shape[1] > 1
    columns = [*(["t"] if leading.startswith("T") else ["row"] if leading else []), *(["env"] if several else [])]
    columns += [slot for slot, _ in along] + (["yours", "right"] if per_row else [])
    rows, wrong = [], []
    order = sorted(np.ndindex(*shape), key=lambda at: at[::-1]) if shape else []  # one environment after the other
    for number, at in enumerate(order):
        cells = [str(at[0]), *([str(at[1])] if several else []), *(figure(value[at]) for _, value in along)]
        if per_row:
            cells += [figure(theirs[at]), figure(right[at])]
            if not np.allclose(theirs[at], right[at], rtol=oracle.tolerance, atol=1e-5, equal_nan=True):
                wrong.append(number)
        rows.append(tuple(cells))
    ends = [(f"{slot}[{shape[0]}]", value[shape[0]]) for slot, value in along if len(value) > shape[0]]
    numbers = ", ".join(f"{slot} = {figure(value)}" for slot, value in (*apart, *ends) if np.size(value) <= 12)
    table = Table(case.name, numbers, tuple(columns), tuple(rows), tuple(wrong))
    if name is None:
        return table, ("", "")
    if not per_row:
        return table, (f"{name} {figure(theirs)} on {case.name}", figure(right))
    at = order[wrong[0]] if wrong else ()
    place = ""
    if at:
        place = f" at {'t' if leading.startswith('T') else 'row'} = {at[0]}" + (f" of env {at[1]}" if several else "")
    return table, (f"{name} {figure(theirs[at])}{place}, on {case.name}", figure(right[at]))


def _leading(axes: str) -> str:
    """The axes that rows of a table run along."""
    return "TB" if axes[:2] in ("TB", "UB") else axes[:1] if axes[:1] in ("N", "T") else ""


def figure(value: Any) -> str:
    """A number as a person would write it down; a list where it is one; flags as 0 and 1."""
    if isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.dtype == bool:
        array = array.astype(int)
    if array.ndim == 0:
        number = float(array)
        if math.isnan(number):
            return "nan"
        return f"{number:.5g}".replace("-", "−")
    return "[" + " ".join(figure(each) for each in array.ravel()[:12]) + (" …" if array.size > 12 else "") + "]"


def _a(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
