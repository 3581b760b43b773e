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
    return kind(**chosen)


def read_toml(path: Path) -> dict[str, Any]:
    return parse_toml(path.read_text(encoding="utf-8"), str(path))


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


def _fit(name: str, value: Any, wanted: Any) -> Any:
    try:
        return _read(value, wanted)
    except (KeyError, TypeError, ValueError):
        shown = getattr(wanted, "__name__", None) if not get_args(wanted) else None
        raise SettingsError(f"{name} is {value!r}, expected {shown or str(wanted).replace('typing.', '')}") from None


def _read(value: Any, wanted: Any) -> Any:
    if get_origin(wanted) in (Union, types.UnionType):
        if value is None or value in ("none", "None"):
            return None
        return _read(value, next(each for each in get_args(wanted) if each is not type(None)))
    if get_origin(wanted) is tuple:
        parts = value.replace("(", "").replace(")", "").split(",") if isinstance(value, str) else value
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
