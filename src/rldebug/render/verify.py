"""A verification in a terminal: how it was called, the smallest case that tells as a table, what is worth knowing."""

from __future__ import annotations

from typing import IO

from rich.text import Text

from rldebug.evidence.verification import Table, Verification
from rldebug.oracles.oracle import Oracle
from rldebug.oracles.shelf import oracles
from rldebug.render.terminal import console, count, wrap

_WIDEST = 110


def print_verification(found: Verification, file: IO[str] | None = None) -> None:
    """Everything but the findings, which `render.terminal` prints."""
    out = console(file=file)
    out.print(render(found, width=min(out.width, _WIDEST)), end="")


def render(found: Verification, width: int = 100) -> Text:
    text = Text()
    text.append(found.target, style="bold")
    text.append(f" as {found.oracle}\n")
    _mapping(text, found, width)
    if found.convention:
        text.append(f"  {wrap(' · '.join(found.convention), width, 2)}\n", style="dim")
    if found.outcome == "right":
        drawn = f", {found.drawn} of them drawn at random" if found.drawn else ""
        text.append("✓ ", style="green")
        text.append(f"the same as the reference on {count(found.cases, 'case')}{drawn} · {found.seconds:.1f} s\n")
    for note in found.notes:
        text.append("note: ", style="bold cyan")
        text.append(wrap(note, width, 6) + "\n")
    if found.table is not None:
        text.append("\n")
        _table(text, found.table, found.formula, width)
    text.append("\n")
    return text


def _mapping(text: Text, found: Verification, width: int) -> None:
    if not found.mapping:
        return
    wide = max(len(each) for each in found.mapping)
    for argument, meaning in found.mapping.items():
        text.append(f"  {argument.ljust(wide)}", style="cyan")
        text.append(f"  {wrap(meaning, width, wide + 4)}\n")


def _table(text: Text, table: Table, formula: str, width: int) -> None:
    text.append("the smallest case: ", style="bold")
    text.append(f"{table.case}" + (f" · {table.numbers}" if table.numbers else "") + "\n")
    if formula:
        text.append(f"  {wrap(formula, width, 2)}\n", style="dim")
    if not table.rows:
        return
    cells = [table.columns, *table.rows]
    wide = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    text.append(
        "    " + "  ".join(each.rjust(w) for each, w in zip(table.columns, wide, strict=True)) + "\n", style="dim"
    )
    for number, row in enumerate(table.rows):
        line = "  ".join(each.rjust(w) for each, w in zip(row, wide, strict=True))
        off = number in table.wrong
        text.append("  ✗ " if off else "    ", style="bold red")
        text.append(line, style="bold" if off else "")
        text.append("  ◀ the first that differs\n" if table.wrong[:1] == (number,) else "\n", style="red")


def print_components(one: Oracle | None) -> None:
    """Every component there is; or one of them, with what its function may take and give, and its mistakes."""
    out = console(wide=True)
    if one is None:
        wide = max(len(each.name) for each in oracles())
        for each in oracles():
            shown = Text(each.name.ljust(wide), style="bold").append(f"  {each.summary}", style="not bold")
            out.print(shown)
        total = sum(len(each.mistakes) for each in oracles())
        said = f"{len(oracles())} components, {total} known mistakes · rldebug verify --list NAME shows one"
        console(stderr=True).print(said, style="dim")
        return
    out.print(Text(one.name, style="bold").append(f": {one.summary}", style="not bold"))
    for label, line in (("formula", one.formula), ("for example", one.example)):
        if line:
            out.print(Text(f"{label}: ", style="dim").append(line, style="not dim"))
    out.print(Text("what it may take (WHAT of --map):", style="dim"))
    meanings: dict[str, str] = {}
    for quantity in one.quantities:
        meanings[quantity.name] = meanings.get(quantity.name) or quantity.meaning
    wide = max((len(name) for name in meanings), default=0)
    for name, meaning in meanings.items():
        out.print(
            Text(f"  {name.ljust(wide)}", style="cyan").append(f"  {meaning}" if meaning else "", style="not dim")
        )
    out.print(Text("known mistakes:", style="dim"))
    for known in one.mistakes:
        out.print(Text(f"  {known.code} ", style="bold").append(f"{known.name}: {known.summary}", style="not bold"))
