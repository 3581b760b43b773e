"""An algorithm's settings: its defaults, what is known to work on an environment, and what the user changes."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class SettingsError(ValueError):
    """A setting that does not exist, or a value that does not fit it."""


def choose(kind: Any, *changes: Mapping[str, Any]) -> Any:
    """An instance of the dataclass `kind`; later changes win. Texts, as from a shell, are read as the field's type."""
    hints = get_type_hints(kind)
    names = [each.name for each in dataclasses.fields(kind)]
    chosen: dict[str, Any] = {}
    for name, value in (pair for each in changes for pair in each.items()):
        if name not in names:
            close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
            instead = f"did you mean {' or '.join(close)}?" if close else f"expected one of {', '.join(names)}"
            raise SettingsError(f"no setting {name!r}: {instead}")
        chosen[name] = _fit(name, value, hints[name])
        _check_range(name, chosen[name])
    return kind(**chosen)


def read_toml(path: Path, table: str | None = None) -> dict[str, Any]:
    """The settings of a file; where it has a table of that name, those in it."""
    read = parse_toml(path.read_text(encoding="utf-8"), str(path))
    inner = read.get(table) if table is not None else None
    return inner if isinstance(inner, dict) else read


def parse_toml(text: str, where: str) -> dict[str, Any]:
    try:
        read: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where} is not TOML: {error}") from error
    return read


def pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    """`["lr=1e-3"]` to `{"lr": "1e-3"}`."""
    for text in texts or []:
        if "=" not in text:
            raise SettingsError(f"{option} {text}: expected NAME=VALUE")
    return {name.strip().replace("-", "_"): value for name, _, value in (text.partition("=") for text in texts or [])}


def literals(texts: list[str] | None, option: str) -> dict[str, Any]:
    """`["size=8", "mode=hard"]` to `{"size": 8, "mode": "hard"}`."""
    return {name: _literal(value) for name, value in pairs(texts, option).items()}


def _literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # not a number, a list or the like: a word


_AT_LEAST_0 = {"learning_starts", "updates"}  # whole numbers that may be 0; all others are counts, at least 1
_SIGNED = {"log_std", "target_entropy"}  # all other numbers are at least 0
_AT_MOST_1 = {"gamma", "lam", "tau", "beta", "epsilon_start", "epsilon_end", "epsilon_fraction", "rms_alpha"}


def _check_range(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    least = 1 if isinstance(value, int) and name not in _AT_LEAST_0 else 0
    too_much = name in _AT_MOST_1 and value > 1
    if (name not in _SIGNED and not value >= least) or too_much:
        raise SettingsError(
            f"{name} is {value:g}, expected {least} to 1"
            if name in _AT_MOST_1
            else f"{name} is {value:g}, expected at least {least}"
        )


def _fit(name: str, value: Any, wanted: Any) -> Any:
    try:
        return _read(value, wanted)
    except (KeyError, TypeError, ValueError):
        raise SettingsError(f"{name} is {value!r}, expected {_in_words(wanted)}") from None


def _in_words(wanted: Any) -> str:
    if get_origin(wanted) is tuple:
        return "whole numbers with commas between, such as 64,64"
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
    return words.get(wanted) or "a number, or none"


def _read(value: Any, wanted: Any) -> Any:
    if get_origin(wanted) in (Union, types.UnionType):
        if value is None or value in ("none", "None"):
            return None
        return _read(value, next(each for each in get_args(wanted) if each is not type(None)))
    if get_origin(wanted) is tuple:
        parts = value.strip("()[] ").split(",") if isinstance(value, str) else value
        return tuple(_read(part, get_args(wanted)[0]) for part in parts if part != "")
    if wanted is bool:
        if isinstance(value, bool):
            return value
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[str(value).lower()]
    if wanted is int:
        number = float(value)
        if number != int(number):
            raise ValueError
        return int(number)
    return wanted(value)
