"""What `rldebug lint` prints: each finding with the line it is about, in the order of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import IO

from rich.text import Text

from rldebug.evidence.source import Source
from rldebug.finding import SEVERITIES, Finding, Report
from rldebug.lint import Linted
from rldebug.render.terminal import SEVERITY_STYLE, console, count, place, wrap


def print_linted(linted: Linted, mends: Sequence[Finding], *, fixed: bool, file: IO[str] | None = None) -> None:
    out = console(file=file)
    out.print(render(linted, mends, fixed=fixed, width=min(out.width, 110)), end="", soft_wrap=True)


def render(linted: Linted, mends: Sequence[Finding] = (), *, fixed: bool = False, width: int = 100) -> Text:
    text = Text()
    by_file = {each.file: each for each in linted.sources}
    shown = sorted(linted.report.roots, key=lambda each: (each.where.file or "", each.where.line or 0))
    for finding in shown:
        text.append_text(_block(finding, by_file.get(finding.where.file or ""), width))
        text.append("\n")
    for finding in mends:
        text.append("mended ", style="bold green")
        text.append(f"{place(finding.where)} {finding.code} {finding.message}\n")
    text.append_text(_summary(linted, width))
    if not fixed and (can := sum(bool(each.edits) for each in linted.report.roots)):
        text.append(f"{count(can, 'mend')} {'is' if can == 1 else 'are'} certain: rldebug lint --fix writes ")
        text.append("it\n" if can == 1 else "them\n")
    for line in linted.report.problems:
        text.append(f"! {wrap(line, width, 2)}\n", style="yellow")
    for name, trace in linted.report.broken.items():
        last = (trace.strip().splitlines() or [""])[-1]
        text.append(f"! rldebug's own {name} failed and was left out: {last}\n", style="magenta")
    return text


def _block(finding: Finding, source: Source | None, width: int) -> Text:
    text = Text()
    head = f"{finding.severity}[{finding.code}]"
    text.append(head, style=SEVERITY_STYLE[finding.severity])
    text.append(f": {wrap(finding.message, width, 4, first=len(head) + 2)}\n", style="bold")
    text.append("  ──▶ ", style="blue")
    text.append(place(finding.where))
    text.append(f"  {finding.name}\n", style="dim italic")
    line, column = finding.where.line or 0, finding.where.column or 1
    if source is not None and 0 < line <= len(source.lines):
        row = source.lines[line - 1].expandtabs(4)
        stripped = row.lstrip()
        text.append(f"{line:5} │ ", style="blue")
        text.append(f"{stripped[: width - 8]}\n")
        under = max(0, len(source.lines[line - 1][: column - 1].expandtabs(4)) - (len(row) - len(stripped)))
        if under < width - 8:
            text.append("      │ ", style="blue")
            text.append(" " * under + "^\n", style=SEVERITY_STYLE[finding.severity])
    text.append("  help: ", style="bold green")
    text.append(wrap(finding.help, width, 8) + "\n")
    return text


def _summary(linted: Linted, width: int) -> Text:
    found, looked = _headline(linted.report, len(linted.sources))
    text = Text(wrap(found + looked, width, 2, first=0) + "\n")
    text.stylize("bold green" if linted.report.clean else "bold", 0, len(found))
    return text


def _headline(report: Report, files: int) -> tuple[str, str]:
    counts = Counter(finding.severity for finding in report.roots)
    parts = ["nothing wrong found"] if report.clean else []
    parts += [count(counts[each], each) for each in SEVERITIES if counts[each]]
    return ", ".join(parts), f" · {count(files, 'file')} read by {count(len(report.checked), 'rule')}"
