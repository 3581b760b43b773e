"""The settings of a reference algorithm, and a user's beside them, in a terminal and as JSON."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rldebug.evidence.hyperparameters import Comparison, Row, Setting
from rldebug.finding import thousands
from rldebug.render.json import write_data
from rldebug.render.terminal import console, count

_ABOUT = {"format": 1, "command": "hyperparameters"}
_SHOWN = 4  # different values of one setting; the rest is counted
_LONG = 12  # letters of a file name; a longer one is said once, at the top
_WIDEST = 110  # columns; longer lines are hard to read


def print_settings(algorithm: str, env: str | None, settings: Sequence[Setting]) -> None:
    """With an environment, the defaults that it departs from stand beside its values."""
    table = _table("setting", "value", *(["default"] if env else []), "")
    for each in settings:
        style = "bold" if each.changed else ""
        default = Text(shown(each.default) if each.changed else "", style="yellow")
        reason = Text(each.reason, style="dim")
        table.add_row(Text(each.name, style), Text(shown(each.value), style), *([default] if env else []), reason)
    title = Text(f"{_title(algorithm, env)}: the reference's settings", style="bold")
    _print(Group(title, Padding(table, (0, 0, 0, 2))))


def print_comparison(comparison: Comparison) -> None:
    _print(render(comparison))


def render(comparison: Comparison) -> Group:
    parts: list[RenderableType] = [_headline(comparison)]
    if comparison.rows:
        parts += [Text(), _rows(comparison)]
    if comparison.missing:
        parts += [Text(), Text("in the reference, not found in your file", style="bold")]
        table = _table("setting", "reference", "")
        for each in comparison.missing:
            value = _of_reference(each.name, each.value, comparison)
            table.add_row(Text(each.name), Text(value), Text(each.reason, style="dim"))
        parts.append(Padding(table, (0, 0, 0, 2)))
    if comparison.unmatched:
        parts += [Text(), Text("in your file, not compared", style="bold")]
        table = _table("name", "yours", "", "")
        for other in comparison.unmatched:
            place = f"line {other.line}"
            table.add_row(
                Text(other.name), Text(shown(other.value)), Text(place, style="dim"), Text(other.why, style="dim")
            )
        parts.append(Padding(table, (0, 0, 0, 2)))
    if comparison.changed:
        defaults = ", ".join(f"{each.name} {shown(each.default)}" for each in comparison.changed)
        parts += [Text(), Text(f"* for {comparison.env}; by default {defaults}", style="dim")]
    return Group(*parts)


def shown(value: Any) -> str:
    """0.0003, 1 000 000, 64 × 64, on, off, none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return " × ".join(map(shown, value)) or "none"
    if isinstance(value, float) and value == int(value) and abs(value) >= 1:
        value = int(value)
    if isinstance(value, int):
        return thousands(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_comparison(comparison: Comparison, file: str) -> None:
    """To a file, or to stdout where it is `-`."""
    write_data({**_ABOUT, **dataclasses.asdict(comparison)}, file)


def write_settings(algorithm: str, env: str | None, settings: Sequence[Setting], file: str) -> None:
    """To a file, or to stdout where it is `-`."""
    listed = [dataclasses.asdict(each) for each in settings]
    write_data({**_ABOUT, "algorithm": algorithm, "env": env, "settings": listed}, file)


def _title(algorithm: str, env: str | None) -> str:
    return algorithm if env is None else f"{algorithm} on {env}"


def _headline(comparison: Comparison) -> Text:
    differ = {row.name for row in comparison.rows if not row.same}
    same = {row.name for row in comparison.rows} - differ
    text = Text(f"{_title(comparison.algorithm, comparison.env)}: ", style="bold")
    if not comparison.rows:
        text.append("no setting of the reference recognised", style="yellow")
    elif differ:
        text.append(f"{count(len(differ), 'setting')} differ{'s' if len(differ) == 1 else ''}", style="yellow")
        text.append(f", {len(same)} the same", style="not bold")
    else:
        text.append(f"all {len(same)} settings found are the same", style="green")
    text.append(f" · {_short(comparison.file)} beside the reference", style="not bold dim")
    return text


def _rows(comparison: Comparison) -> RenderableType:
    file = os.path.basename(comparison.file)
    long = len(file) > _LONG
    table = _table("setting", "yours", "reference", "verdict", file if long else "where")
    for name, group in groupby(comparison.rows, key=lambda row: row.name):
        places = list(group)
        dim = "dim" if all(row.same for row in places) else ""
        for place, row in enumerate(places[:_SHOWN]):
            called = "" if row.given_as.lower() == name else f" {row.given_as}"
            table.add_row(
                Text(name if place == 0 else "", style=dim or "bold"),
                Text(shown(row.yours), style=dim),
                Text(_of_reference(name, row.reference, comparison), style=dim),
                _verdict(row),
                Text(f"{'' if long else file}:{row.line}{called}", style="dim"),
            )
        if len(places) > _SHOWN:
            table.add_row("", "", "", Text(f"and {len(places) - _SHOWN} other values", style="dim"), "")
    return Padding(table, (0, 0, 0, 2))


def _of_reference(name: str, value: Any, comparison: Comparison) -> str:
    """Marked where it is no default. The name may be a formula: steps × envs."""
    changed = {each.name for each in comparison.changed} & set(name.split())
    return f"{shown(value)} *" if changed else shown(value)


def _verdict(row: Row) -> Text:
    size, _, follows = row.verdict.partition(": ")
    text = Text(size, style="dim" if row.same else "yellow")
    if follows:
        text.append(f": {follows}", style="default")
    return text


def _short(path: str) -> str:
    short = os.path.relpath(path)
    return path if short.startswith("..") else short


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        narrow = column in ("setting", "name", "value", "default", "yours", "reference")
        table.add_column(column, overflow="fold", no_wrap=narrow, min_width=24 if column == "verdict" else None)
    return table


def _print(content: RenderableType) -> None:
    out = console()
    out.print(content, width=min(out.width, _WIDEST))
