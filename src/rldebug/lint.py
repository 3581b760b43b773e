"""The rules that read the source, on files that are not run; and the mends that are certain."""

from __future__ import annotations

import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rldebug import catalogue
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.source import Source, SourceError, python_files, read_source, together
from rldebug.finding import Edit, Finding, Report, rank


@dataclass(frozen=True)
class Linted:
    """What was read, and what there is to say about it."""

    sources: tuple[Source, ...]
    report: Report


def lint(paths: Iterable[Path | str], config: Config) -> Linted:
    """Read every file and judge each by itself. A path that is not there raises SourceError; a file that cannot be read
    is named among the problems, and the others go on."""
    sources, problems = [], []
    for file in python_files(paths):
        try:
            sources.append(read_source(file))
        except SourceError as error:
            problems.append(str(error))
    if not sources:
        raise SourceError("; ".join(problems) or "no Python file (.py) is there")
    # What is configured may name rules that read something else: then all of them must be known.
    plain = not (config.select or config.ignore or config.rules)
    with catalogue.narrowed(frozenset({"Source"}) if plain else None):
        reports = [diagnose([each], config=config, command="lint") for each in together(sources)]
    findings = rank(finding for each in reports for finding in each.findings)
    broken = {name: trace for each in reports for name, trace in each.broken.items()}
    exit = 2 if problems or broken else int(any(each.severity != "note" for each in findings))
    report = Report(
        command="lint",
        findings=findings,
        checked=tuple(sorted({code for each in reports for code in each.checked})),
        broken=broken,
        exit=exit,
        problems=tuple(problems),
    )
    return Linted(tuple(sources), report)


def mended(source: Source, findings: Iterable[Finding]) -> tuple[str, list[Finding]]:
    """The text with every mend that is certain, and what was mended. Of two that touch the same place, the first."""
    lines, done = list(source.lines), []
    taken: list[tuple[tuple[int, int], tuple[int, int]]] = []
    edits: list[Edit] = []
    for finding in findings:
        spans = [((each.line, each.column), (each.end_line, each.end_column)) for each in finding.edits]
        if not spans or any(begin < end_ and begin_ < end for begin, end in spans for begin_, end_ in taken):
            continue
        taken += spans
        edits += finding.edits
        done.append(finding)
    for edit in sorted(edits, key=lambda each: (each.line, each.column), reverse=True):
        before = lines[edit.line - 1][: edit.column - 1]
        after = lines[edit.end_line - 1][edit.end_column - 1 :]
        lines[edit.line - 1 : edit.end_line] = [before + edit.text + after]
    return "\n".join(lines), done


def fix(linted: Linted, config: Config) -> tuple[Linted, list[Finding]]:
    """Write the mends into the files, and look at those again. A mend that would break a file is not written."""
    mends: list[Finding] = []
    for source in linted.sources:
        own = [each for each in linted.report.findings if each.where.file == source.file]
        text, done = mended(source, own)
        if done and _parses(text):
            _write(Path(source.file), text)
            mends += done
    if not mends:
        return linted, []
    return lint([each.file for each in linted.sources], config), mends


def _parses(text: str) -> bool:
    try:
        compile(text, "<mended>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _write(file: Path, text: str) -> None:
    """In the encoding and with the line ends that the file has."""
    raw = file.read_bytes()
    with file.open("rb") as stream:
        encoding, _ = tokenize.detect_encoding(stream.readline)
    ends = "\r\n" if b"\r\n" in raw else "\n"
    try:
        file.write_bytes(text.replace("\n", ends).encode(encoding))
    except OSError as error:
        raise SourceError(f"{file}: cannot be written: {error.strerror or error}") from error
