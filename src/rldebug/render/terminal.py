"""The report in a terminal: diagnosis first, then how it learned, then what was not checked."""

from __future__ import annotations

import dataclasses
import os
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

from rldebug.evidence.learning import Learning, learning
from rldebug.evidence.run import Run
from rldebug.finding import SEVERITIES, Finding, Report, Severity, Where, thousands
from rldebug.render.program import lines

SEVERITY_STYLE: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}\b)")
_LABEL = 10  # width of "seen", "expected" and their like, so that the values stand in a column
_SHOWN = 5  # lines of a list; the rest is counted
_WIDEST = 110  # columns; longer lines are hard to read
_PIPED = 100  # columns where there is no terminal to ask
_MEASURED = 0.8  # share of a run that its readings reach to, from which on they speak for the whole


def console(*, stderr: bool = False, file: IO[str] | None = None, wide: bool = False) -> Console:
    """Colours where there is a terminal and NO_COLOR is not set. `wide`: one line per row where the output is piped."""
    out = Console(file=file, stderr=stderr and file is None, highlight=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = 1000 if wide else _PIPED
    return out


def print_report(
    report: Report,
    *,
    run_folder: Path | None = None,
    run: Run | None = None,
    file: IO[str] | None = None,
    to_stdout: bool = False,
    told: Collection[str] = (),
) -> None:
    """`told`: codes that were explained before, and need only a line."""
    out = console(file=file, stderr=not to_stdout)
    folder = run_folder or (run.path if run is not None else None)
    curve = learning(run) if run is not None else None
    width = min(out.width, _WIDEST)
    out.print(render(report, run_folder=folder, curve=curve, width=width, told=told), end="")


def render(
    report: Report,
    *,
    run_folder: Path | None = None,
    curve: Learning | None = None,
    width: int = _PIPED,
    told: Collection[str] = (),
) -> Text:
    text = Text()
    for finding in report.roots:
        if finding.code in told:
            text.append_text(title(finding, width, "above"))
        else:
            text.append_text(block(finding, width))
        for each in report.folded:
            if finding.code in each.follows:
                text.append("    ╰ follows   ", style="blue")
                text.append(wrap(f"{each.code} {each.message}", width - len(each.name) - 2, 16))
                text.append(f"  {each.name}\n", style="dim italic")
        text.append("\n")
    if report.suspects:
        names = " · ".join(f"{each.component} {each.score:.2f}" for each in report.suspects[:3])
        text.append("suspects: ", style="bold")
        text.append(f"{names}\n")
    computes = [each for each in lines(report.program) if each] if report.program else []
    if computes:
        text.append("program:  ", style="bold")
        first, *more = computes
        text.append(wrap(first, width, 10) + "\n")
        for line in more:
            text.append(" " * 10 + wrap(line, width, 12, first=10) + "\n", style="dim")
    if curve is not None:
        text.append("learning: ", style="bold")
        steps = int((report.program or {}).get("env_steps") or 0)
        text.append(wrap(in_words(curve, steps), width, 10) + "\n")
    text.append_text(summary(report, width))
    _complain(text, report.problems, "yellow", width)
    last = {name: (trace.strip().splitlines() or [""])[-1] for name, trace in report.broken.items()}
    failures = [f"rldebug's own {name} failed and was left out: {why}" for name, why in last.items()]
    _complain(text, failures, "magenta", width)
    if run_folder is not None:
        text.append(f"page: rldebug report {run_folder} --html report.html\n", style="dim")
    return text


def block(finding: Finding, width: int = _PIPED) -> Text:
    """What happened, where, what was seen, what was expected, one thing to do, where to read more."""
    text = title(finding, width, finding.name)
    where = place(finding.where)
    if where:
        text.append("   ──▶ ", style="blue")
        text.append(f"{where}\n")
    faster = [] if finding.speedup is None else [("gain", f"the whole run {gain(finding.speedup)} as fast")]
    for label, value in (("seen", finding.seen), ("expected", finding.expected), *faster):
        text.append("    = ", style="blue")
        text.append(label.ljust(_LABEL))
        text.append(wrap(value, width, 6 + _LABEL) + "\n")
    text.append("  help: ", style="bold green")
    text.append(wrap(finding.help, width, 8) + "\n")
    text.append(f"  more: rldebug explain {finding.code}\n", style="dim")
    return text


def title(finding: Finding, width: int, name: str) -> Text:
    text = Text()
    head = f"{finding.severity}[{finding.code}]"
    text.append(head, style=SEVERITY_STYLE[finding.severity])
    gap = width - len(head) - 2 - len(finding.message) - len(name)
    if gap >= 2:
        text.append(f": {finding.message}", style="bold")
        text.append(" " * gap + f"{name}\n", style="dim italic")
    else:
        text.append(f": {wrap(finding.message, width, 4, first=len(head) + 2)}\n", style="bold")
        text.append(f"{name.rjust(width)}\n", style="dim italic")
    return text


def place(where: Where) -> str:
    """The place as the user would type it: files below the current folder without the way there."""
    if where.file is None:
        return str(where)
    seen = None if where.seen_at is None else _short(where.seen_at)
    return str(dataclasses.replace(where, file=_short(where.file), seen_at=seen))


def _short(file: str) -> str:
    try:
        short = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if short.startswith("..") else short


def gain(speedup: float) -> str:
    """×1.43, ×12."""
    return f"×{speedup:.2f}" if speedup < 9.995 else f"×{speedup:.0f}"


def headline(report: Report) -> tuple[str, str]:
    """What was found, and how much was looked at."""
    counts = Counter(finding.severity for finding in report.roots)
    nothing = "nothing wrong found" if report.checked else "nothing could be checked"
    if report.unfinished:
        nothing += " so far, but the diagnosis is unfinished"
    parts = [nothing] if report.clean else []
    parts += [count(counts[each], each) for each in SEVERITIES if counts[each]]
    looked = ""
    if report.folded:
        looked += f", {len(report.folded)} more folded under {'it' if len(report.roots) == 1 else 'them'}"
    if report.checked or report.clean:
        looked += f" · {count(len(report.checked), 'rule')} ran"
    if report.skipped:
        looked += f" · {len(report.skipped)} could not"
    return ", ".join(parts), looked


def summary(report: Report, width: int = _PIPED) -> Text:
    """One line on what was found, and on what could not be looked at."""
    found, looked = headline(report)
    why = f": {reasons(report.skipped)}" if report.skipped else ""
    text = Text(wrap(found + looked + why, width, 2, first=0) + "\n")
    text.stylize("bold green" if report.clean and not report.unfinished else "bold", 0, len(found))
    return text


def in_words(curve: Learning, steps: int = 0) -> str:
    """How fast, and how far: two facts, kept apart. `steps` of the environment there were in all, where that is known.

    Readings become rare where they would cost too much: what came after the last one is not spoken of.
    """
    if curve.env_steps < _MEASURED * steps:
        within = f"in the first {thousands(curve.env_steps)} of {thousands(steps)} env steps, as far as was measured: "
        return within + in_words(curve).replace("from start to end", "all the time").replace("at the end", "there")
    if not curve.moved:
        return f"{curve.name} stayed at {curve.plateau:.4g} (±{curve.noise:.2g}) from start to end"
    way = f"{curve.name} went from {curve.start:.4g} to {curve.plateau:.4g}"
    paces = [
        f"{share} of the way by {thousands(steps)}"
        for share, steps in (("half", curve.half), ("90 %", curve.most))
        if steps is not None
    ]
    speed = f"; {', '.join(paces)} of {thousands(curve.env_steps)} env steps" if paces else ""
    return way + speed + ("; level since" if curve.settled and curve.most is not None else "; still moving at the end")


def reasons(skipped: Mapping[str, str]) -> str:
    """The few commonest reasons, most common first."""
    kinds: Counter[str] = Counter(_kind(reason) for reason in skipped.values())
    shown = [f"{number} need{'s' if number == 1 else ''} {kind}" for kind, number in kinds.most_common(3)]
    rest = len(skipped) - sum(number for _, number in kinds.most_common(3))
    return ", ".join(shown) + (f", {rest} other things" if rest else "")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _kind(reason: str) -> str:
    if reason.startswith("not enough data"):
        return "more readings"
    wanted = re.search(r"pass (.+) to ([\w.]+)", reason)
    return f"{wanted[1]} in {wanted[2]}" if wanted else reason.removeprefix("needs ")


def _complain(text: Text, lines: Sequence[str], style: str, width: int) -> None:
    for line in lines[:_SHOWN]:
        text.append(f"! {wrap(line, width, 2)}\n", style=style)
    if len(lines) > _SHOWN:
        text.append(f"! and {len(lines) - _SHOWN} more\n", style=style)


def wrap(value: str, width: int, indent: int, first: int | None = None) -> str:
    """Wrapped at `width`; the text begins in column `first`, later lines in column `indent`."""
    whole = _THOUSANDS.sub("\N{NO-BREAK SPACE}", value)  # 23 402 stays on one line
    margin = " " * (indent if first is None else first)
    width = max(width, indent + 30)
    text = textwrap.fill(
        whole,
        width,
        initial_indent=margin,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.removeprefix(margin).replace("\N{NO-BREAK SPACE}", " ")
