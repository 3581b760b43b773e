"""The report in a terminal: diagnosis first, then what was not checked."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

from rldebug.finding import Finding, Report, Severity

_STYLE: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_LABEL = 10  # width of "seen", "expected" and their like, so that the values stand in a column


def print_report(report: Report, *, run_folder: Path | None = None, file: IO[str] | None = None) -> None:
    console = Console(file=file or sys.stderr, highlight=False, soft_wrap=False)
    console.print(render(report, run_folder=run_folder, width=min(console.width, 110)))


def render(report: Report, *, run_folder: Path | None = None, width: int = 100) -> Text:
    text = Text()
    for finding in report.roots:
        text.append_text(block(finding, width))
        under = [each for each in report.folded if finding.code in each.follows]
        for each in under:
            text.append("    ╰ follows  ", style="dim")
            text.append(f"{each.code} {each.message}", style="dim")
            text.append(f"  {each.name}\n", style="dim italic")
        text.append("\n")
    if report.suspects:
        names = ", ".join(f"{each.component} ({each.score:.2f})" for each in report.suspects[:3])
        text.append("suspects: ", style="bold")
        text.append(f"{names}\n")
    text.append_text(summary(report))
    for problem in report.problems:
        text.append(f"! {problem}\n", style="yellow")
    for name, trace in report.broken.items():
        last = trace.strip().splitlines()[-1] if trace.strip() else ""
        text.append(f"! rldebug's own {name} failed and was switched off: {last}\n", style="magenta")
    if run_folder is not None:
        text.append(f"run: {run_folder}", style="dim")
        text.append(f"   page: rldebug report {run_folder} --html report.html\n", style="dim")
    return text


def block(finding: Finding, width: int = 100) -> Text:
    """What happened, where, what was seen, what was expected, one thing to do, where to read more."""
    style = _STYLE[finding.severity]
    text = Text()
    head = f"{finding.severity}[{finding.code}]"
    gap = max(2, width - len(head) - 2 - len(finding.message) - len(finding.name))
    text.append(head, style=style)
    text.append(f": {finding.message}", style="bold")
    text.append(" " * gap + f"{finding.name}\n", style="dim italic")
    where = str(finding.where)
    if where:
        text.append("   ──▶ ", style="blue")
        text.append(f"{where}\n")
    _field(text, "seen", finding.seen, width)
    _field(text, "expected", finding.expected, width)
    text.append("  help: ", style="bold green")
    text.append(_wrap(finding.help, width, 8) + "\n")
    text.append(f"  more: rldebug explain {finding.code}\n", style="dim")
    return text


def summary(report: Report) -> Text:
    """One line on what was found, and on what could not be looked at."""
    counts = Counter(finding.severity for finding in report.roots)
    found = [f"{counts[each]} {each}{'s' if counts[each] > 1 else ''}" for each in ("error", "warning", "note") if counts[each]]
    text = Text()
    if report.clean:
        text.append("nothing wrong found", style="bold green")
        if found:
            text.append(f", {', '.join(found)}")
    else:
        text.append(", ".join(found), style="bold")
    if report.folded:
        text.append(f", {len(report.folded)} more folded under {'it' if len(report.roots) == 1 else 'them'}")
    text.append(f" · {len(report.checked)} rules ran")
    if report.skipped:
        text.append(f" · {len(report.skipped)} could not: {_reasons(report.skipped)}")
    text.append("\n")
    return text


def _reasons(skipped: Mapping[str, str]) -> str:
    """The few commonest reasons, most common first."""
    kinds: Counter[str] = Counter()
    for reason in skipped.values():
        if reason.startswith("not enough data"):
            kinds["need a longer run"] += 1
        else:
            enable = reason.partition(": ")[2]
            wanted = re.search(r"(\S+=)(?:.*?)? to ([\w.]+)", enable)
            kinds[f"need {wanted[1]}… in {wanted[2]}" if wanted else (f"need {reason.removeprefix('needs ')}")] += 1
    shown = [f"{count} {kind}" for kind, count in kinds.most_common(3)]
    rest = len(skipped) - sum(count for _, count in kinds.most_common(3))
    return ", ".join(shown) + (f", {rest} others" if rest else "")


def _field(text: Text, label: str, value: str, width: int) -> None:
    text.append("    = ", style="blue")
    text.append(label.ljust(_LABEL))
    text.append(_wrap(value, width, 6 + _LABEL) + "\n")


def _wrap(value: str, width: int, indent: int) -> str:
    lines = textwrap.wrap(value, max(width - indent, 30)) or [""]
    return ("\n" + " " * indent).join(lines)
