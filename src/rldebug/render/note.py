"""An error explained in a few lines: the note below a traceback, and what `rldebug explain` prints of a text."""

from __future__ import annotations

import linecache
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.facts import Fact, finite
from rldebug.evidence.crashes.place import is_last_resort
from rldebug.evidence.crashes.tensors import tensors_of
from rldebug.evidence.crashes.text import NOTE
from rldebug.finding import Finding, Report, Where
from rldebug.render.terminal import SEVERITY_STYLE, console, place, wrap

_LABEL = 12  # columns before the text of a line
_WIDEST = 100
_ROWS = 12  # of the table of tensors; the rest is counted
_COLUMNS = ("name", "shape", "dtype", "device", "grad", "finite")

Line = tuple[str, str]  # label, text


def note(report: Report, crash: Crash, names: Mapping[str, str] | None = None) -> str:
    """Plain text, to be printed below the exception; empty where nothing was found. `names`: what files are shown as,
    where that is not their path."""
    width = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    return "\n".join("\n" + explanation(each, crash, names or {}, width).plain for each in report.roots[:2])


def print_explained(report: Report, crashes: Sequence[Crash]) -> None:
    """What a text tells of errors, and how to learn more."""
    out = console()
    crashes = crashes or (Crash(type="Exception", message=""),)
    for finding in report.roots:
        spot = (finding.where.file, finding.where.line)
        crash = next((each for each in crashes if (each.where.file, each.where.line) == spot), crashes[0])
        out.print(explanation(finding, crash, {}, min(out.width, _WIDEST), below=False), end="\n\n")
    out.print(wrap(_live(crashes[0]), min(out.width, _WIDEST), 0), style="dim")


def _live(crash: Crash) -> str:
    """What would tell more than the text."""
    more = "the tensors of that line with their shapes and devices, and where they were made"
    if any(frame.file.startswith(("In[", "In [", "<ipython")) for frame in crash.own):
        return f"This is from the text alone. After `%load_ext rldebug`, run the cell again: that also shows {more}."
    outer = crash.own[0] if crash.own else None
    script = Path(outer.file).name if outer is not None and outer.function == "<module>" else "SCRIPT"
    return f"This is from the text alone. `rldebug run {script}` also shows {more}."


def explanation(
    finding: Finding, crash: Crash, names: Mapping[str, str], width: int = _WIDEST, *, below: bool = True
) -> Text:
    """`below`: the exception itself stands above it, and is not told again."""
    text = Text()
    unknown = is_last_resort(finding.code)
    head = f"{NOTE}{finding.severity}[{finding.code}]"
    text.append(head, style=SEVERITY_STYLE[finding.severity])
    text.append(" " + wrap(finding.message, width, 4, first=len(head) + 1), style="bold")
    for label, value in _lines(finding, crash, names, unknown, below):
        text.append(f"\n  {label.ljust(_LABEL - 2)}", style="dim")
        table = "\n" in value
        text.append(value.replace("\n", "\n" + " " * _LABEL) if table else wrap(value, width, _LABEL))
    return text


def _lines(finding: Finding, crash: Crash, names: Mapping[str, str], unknown: bool, below: bool) -> Iterator[Line]:
    where, at = finding.where, crash.at
    if where.file is not None:
        same = at is not None and (at.file, at.line) == (where.file, where.line)
        spot = place(Where(names.get(where.file, where.file), where.line, tensor=where.tensor))
        source = at.source if same and at is not None else linecache.getline(where.file, where.line or 0).strip()
        yield "where", f"{spot}   {source}" if source else spot
    if where.update or where.env_step:
        yield "when", str(Where(update=where.update, env_step=where.env_step))
    seen = finding.seen.removeprefix(crash.said).lstrip(";, ") if below else finding.seen
    rows = _rows(crash) if unknown else []
    if seen and not rows:
        yield "seen", seen
    if rows:
        yield "tensors", _table(rows)
    if not unknown:
        yield "expected", finding.expected
    if crash.chain and crash.chain[0][1] == "raised in another process":
        yield "process", "it was raised in another one; this is that one's own error"
    yield "help", finding.help
    if not unknown:  # its page says no more than this
        yield "more", f"rldebug explain {finding.code}   {finding.component}, {finding.name}"


# ── the tensors in the user's innermost frame ───────────────────────────────────────────────────────────────────────


def _rows(crash: Crash) -> list[Sequence[str]]:
    return [
        (name, _shape(fact), fact["dtype"], fact.get("device", "numpy"), _grad(fact), finite(fact))
        for name, fact in tensors_of(crash).items()
    ]


def _shape(fact: Fact) -> str:
    sizes = ", ".join(str(each) for each in fact["shape"])
    return f"({sizes},)" if len(fact["shape"]) == 1 else f"({sizes})"


def _grad(fact: Fact) -> str:
    return "graph" if fact.get("ops") else "yes" if fact.get("grad") else "no"


def _table(rows: Sequence[Sequence[str]]) -> str:
    shown = [_COLUMNS, *rows[:_ROWS]]
    widths = [max(len(row[column]) for row in shown) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    return "\n".join([*lines, *([f"and {len(rows) - _ROWS} more"] if len(rows) > _ROWS else [])])
