"""Where two runs part, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rldebug.evidence.diff import Comparison, Parting
from rldebug.finding import thousands
from rldebug.render.terminal import console

_SHOWN = 8  # rows of a list; the rest is counted


def print_comparison(comparison: Comparison) -> None:
    console().print(render(comparison))


def render(comparison: Comparison) -> Group:
    a, b = comparison.names
    parts: list[RenderableType] = []
    extent = f"{thousands(comparison.common)} updates recorded in both, {comparison.metrics} readings"
    within = f", within {comparison.tolerance:g}" if comparison.tolerance else ""
    if comparison.parting is None:
        head = Text("the same", style="bold green")
        head.append(f" on {extent}{within} (up to update {thousands(comparison.last)})", style="default")
        parts.append(head)
    else:
        parts += _parting(comparison.parting, a, b)
        parts.append(Text(f"compared: {extent}{within}", style="dim"))
    if comparison.settings:
        parts += [Text(), Text("settings that differ", style="bold")]
        rows = [(key, _plain(ours), _plain(theirs)) for key, (ours, theirs) in comparison.settings.items()]
        parts.append(_table(rows, ("", a, b)))
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            parts.append(Text(f"only in {name}: {_some(only)}", style="dim"))
    return Group(*parts)


def _parting(parting: Parting, a: str, b: str) -> list[RenderableType]:
    first = parting.differences[0]
    head = Text("the runs part", style="bold red")
    head.append(f" at update {thousands(parting.update)} ({thousands(parting.env_step)} env steps): ", style="default")
    head.append(first.name, style="bold")
    head.append(f" first, in the {first.stage}" if first.stage != "yours" else " first", style="default")
    rows = [(each.name, _number(each.a), _number(each.b), each.stage) for each in parting.differences[:_SHOWN]]
    parts: list[RenderableType] = [head, _table(rows, ("", a, b, ""))]
    if len(parting.differences) > _SHOWN:
        parts.append(Text(f"    and {len(parting.differences) - _SHOWN} more at the same update", style="dim"))
    if parting.rows:
        parts.append(Text(f"    parameters and layers: {_some(parting.rows)}", style="dim"))
    if parting.small:
        parts.append(Text("differences this small can be float noise: --tolerance 1e-4 looks past them"))
    return parts


def _table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
    for place, title in enumerate(header):
        table.add_column(f"    {title}" if place == 0 else title, overflow="fold", justify="left")
    for first, *rest in rows:
        table.add_row(Text(f"    {first}"), *(Text(each) for each in rest))
    return table


def _number(value: float | None) -> str:
    return "not taken" if value is None else f"{value:.9g}"


def _plain(value: object) -> str:
    return "–" if value is None else str(value)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
