"""A ladder and its report as plain data, to be written as JSON and read again.

Numbers come back exactly, arrays with their type and shape; NaN and infinities are strings, so that a file stays valid
JSON. What is read is checked field by field: whoever draws a ladder may rely on its types and shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import numpy as np

from rldebug.evidence.ladder import Array, Attempt, Ladder, Outcome, Rung
from rldebug.finding import Finding, Report

_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

Reader = Callable[[Any, str], Any]  # what stands in the file, and where: what it is, or ValueError


def to_dict(ladder: Ladder) -> dict[str, Any]:
    plain: dict[str, Any] = _plain(ladder)
    return plain


def _plain(thing: Any) -> Any:
    if is_dataclass(thing) and not isinstance(thing, type):
        return {each.name: _plain(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, np.ndarray):
        return {"dtype": thing.dtype.str, "shape": list(thing.shape), "values": _plain(thing.ravel().tolist())}
    if isinstance(thing, np.generic):
        return _plain(thing.item())
    if isinstance(thing, float) and not math.isfinite(thing):
        return str(thing)
    if isinstance(thing, Mapping):
        return {str(name): _plain(each) for name, each in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(each) for each in thing]
    return thing if thing is None or isinstance(thing, bool | int | float | str) else str(thing)


def from_dict(data: Mapping[str, Any]) -> Ladder:
    """Raises ValueError where something is not what a ladder holds, and says where."""
    return Ladder(**_read(data, "", _LADDER))


# ── what may stand there ──


def _read(data: Any, at: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Every field by its reader; one too many is left out, one too few is named."""
    given = _map(data, at)
    if missing := [each for each in readers if each not in given]:
        raise ValueError(f"{at + ': ' if at else ''}{', '.join(missing)} missing")
    return {name: read(given[name], f"{at}.{name}" if at else name) for name, read in readers.items()}


def _text(thing: Any, at: str) -> str:
    return str(_of(thing, str, at, "text"))


def _whole(thing: Any, at: str) -> int:
    return int(_of(thing, int, at, "a whole number"))


def number(thing: Any, at: str) -> float:
    unusual = _UNUSUAL.get(thing) if isinstance(thing, str) else None
    return float(_of(thing if unusual is None else unusual, int | float, at, "a number"))


def _outcome(thing: Any, at: str) -> Outcome:
    if thing not in get_args(Outcome):
        raise ValueError(f"{at} is {str(thing)[:40]!r}, expected one of {', '.join(get_args(Outcome))}")
    outcome: Outcome = thing
    return outcome


def _simple(thing: Any, at: str) -> Any:
    if isinstance(thing, str) and thing in _UNUSUAL:
        return _UNUSUAL[thing]
    return thing if thing is None or isinstance(thing, bool) else _of(thing, int | float | str, at, "a number or text")


def _array(thing: Any, at: str) -> Array:
    data = _map(thing, at)
    kind = np.dtype(_text(data["dtype"], f"{at}.dtype"))
    shape = [_whole(each, f"{at}.shape") for each in _of(data["shape"], list, at, "a list")]
    values = _of(data["values"], list, at, "a list")
    if kind.kind not in "biuf" or not 1 <= len(shape) <= 2 or min(shape) < 0 or math.prod(shape) != len(values):
        raise ValueError(f"{at} is no array: {len(values)} values of type {kind} in the shape {shape}")
    return np.array([number(each, at) if kind.kind == "f" else each for each in values], kind).reshape(shape)


def _map(thing: Any, at: str) -> dict[str, Any]:
    found: dict[str, Any] = _of(thing, dict, at or "it", "an object")
    return found


def _of(thing: Any, kind: Any, at: str, called: str) -> Any:
    if not isinstance(thing, kind) or (isinstance(thing, bool) and kind is not bool):
        raise ValueError(f"{at} is {type(thing).__name__}, expected {called}")
    return thing


def _maybe(read: Reader) -> Reader:
    return lambda thing, at: None if thing is None else read(thing, at)


def _tuple(*readers: Reader) -> Reader:
    """So many, each by its own reader."""

    def read(thing: Any, at: str) -> tuple[Any, ...]:
        if len(_of(thing, list, at, "a list")) != len(readers):
            raise ValueError(f"{at} has {len(thing)} parts, expected {len(readers)}")
        return tuple(each(one, at) for each, one in zip(readers, thing, strict=True))

    return read


def _many(read: Reader) -> Reader:
    return lambda thing, at: tuple(read(each, f"{at}[{i}]") for i, each in enumerate(_of(thing, list, at, "a list")))


def _named(read: Reader) -> Reader:
    return lambda thing, at: {name: read(each, f"{at}.{name}") for name, each in _map(thing, at).items()}


def _attempt(thing: Any, at: str) -> Attempt:
    return Attempt(**_read(thing, at, _ATTEMPT))


def _rung(thing: Any, at: str) -> Rung:
    """With every table of a size that can be drawn: a row for each look, the learned beside the right."""
    rung = Rung(**_read(thing, at, _RUNG))
    looks = len(rung.looks)
    if rung.choices is not None and rung.choices.ndim != 1:
        raise ValueError(f"{at}.choices is of shape {rung.choices.shape}, expected a row")
    if rung.right is not None and len(rung.right) != looks:
        raise ValueError(f"{at}.right has {len(rung.right)} rows, expected one for each of {looks} looks")
    for each in rung.attempts:
        for name, columns in (("value", 1), ("policy", 2), ("frequencies", 2)):
            table = getattr(each, name)
            alike = name != rung.asks or rung.right is None or table is None or table.shape == rung.right.shape
            if table is not None and (table.ndim != columns or len(table) != looks or not alike):
                raise ValueError(f"{at}: {name} of seed {each.seed} is of shape {table.shape}, for {looks} looks")
    return rung


_ATTEMPT: dict[str, Reader] = {
    "seed": _whole,
    "outcome": _outcome,
    "reason": _text,
    "steps": _whole,
    "updates": _whole,
    "lr": _maybe(number),
    "moved": _maybe(number),
    "seconds": number,
    "error": number,
    "noise": number,
    "value": _maybe(_array),
    "policy": _maybe(_array),
    "frequencies": _maybe(_array),
    "returns": _maybe(number),
    "forbidden": _maybe(number),
    "envs": _whole,
    "shows": _many(_text),
    "history": _many(_tuple(_whole, number)),
}
_RUNG: dict[str, Reader] = {
    "name": _text,
    "number": _whole,
    "title": _text,
    "asks": _text,
    "outcome": _outcome,
    "reason": _text,
    "looks": _many(_text),
    "right": _maybe(_array),
    "choices": _maybe(_array),
    "attempts": _many(_attempt),
    "matched": _many(_text),
    "returns": _maybe(_tuple(number, number)),
}
_LADDER: dict[str, Reader] = {
    "target": _text,
    "rungs": _many(_rung),
    "declared": _named(_simple),
    "gamma": _maybe(number),
    "lam": _maybe(number),
    "seconds": number,
}
_WHERE: dict[str, Reader] = {
    "file": _maybe(_text),
    "line": _maybe(_whole),
    "update": _maybe(_whole),
    "env_step": _maybe(_whole),
    "tensor": _maybe(_text),
    "column": _maybe(_whole),
}
_FINDING: dict[str, Reader] = {
    **dict.fromkeys(("code", "name", "component", "severity", "message", "seen", "expected", "help"), _text),
    "confidence": number,
    "where": lambda thing, at: _read(thing, at, _WHERE),
    "follows": _many(_text),
}
_REPORT: dict[str, Reader] = {
    "command": _text,
    "findings": _many(lambda thing, at: Finding.from_dict(_read(thing, at, _FINDING))),
    "checked": _many(_text),
    "skipped": _named(_text),
    "broken": _named(_text),
    "program": _maybe(_map),
    "exit": _maybe(_whole),
}


def report_from_dict(thing: Any, title: str) -> Report:
    """What `Report.to_dict` gave. Raises as `from_dict` does."""
    return Report(**_read(thing, "report", _REPORT), title=title)
