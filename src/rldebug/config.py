"""[tool.rldebug] in pyproject.toml: which rules run, and with which thresholds."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ConfigError(Exception):
    """The configuration asks for something that does not exist; the message says where and what was expected."""


@dataclass(frozen=True)
class Config:
    """Codes or names everywhere. `select` empty means all stable rules."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    nursery: bool = False
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # rule -> threshold -> value
    source: str = "[tool.rldebug]"


def read_config(start: Path | None = None) -> Config:
    """The nearest pyproject.toml above `start` that has a [tool.rldebug] table; the defaults where there is none."""
    folder = (start or Path.cwd()).resolve()
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise ConfigError(f"{file} cannot be read: {error}") from error
        if isinstance(tools, dict) and "rldebug" in tools:
            return _parse(tools["rldebug"], f"[tool.rldebug] in {file}")
    return Config()


def asked_for(config: Config, select: Sequence[str], ignore: Sequence[str]) -> Config:
    """With --select and --ignore of a command line: the first replaces what is configured, the second adds to it."""
    if select:
        config = replace(config, select=tuple(select), source="--select")
    if ignore:
        source = config.source if select else "--ignore"
        config = replace(config, ignore=(*config.ignore, *ignore), source=source)
    return config


def _parse(table: Any, source: str) -> Config:
    if not isinstance(table, dict):
        raise ConfigError(f"{source}: expected a table")
    known = {"select", "ignore", "nursery", "rules"}
    for key in table:
        if key not in known:
            raise ConfigError(f"{source}: unknown key {key!r}, expected one of {', '.join(sorted(known))}")
    for key in ("select", "ignore"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ConfigError(f'{source}: {key} must be a list of codes or names, like ["entropy-collapse"]')
    thresholds = table.get("rules", {})
    if not isinstance(thresholds, dict) or not all(isinstance(each, dict) for each in thresholds.values()):
        raise ConfigError(f"{source}: rules must hold one table per rule, like [tool.rldebug.rules.entropy-collapse]")
    if not isinstance(table.get("nursery", False), bool):
        raise ConfigError(f"{source}: nursery must be true or false")
    return Config(
        select=tuple(table.get("select", ())),
        ignore=tuple(table.get("ignore", ())),
        nursery=table.get("nursery", False),
        rules=thresholds,
        source=source,
    )
