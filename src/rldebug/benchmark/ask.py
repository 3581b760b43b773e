"""Asks one means, or one peer, about one program; and keeps the answers, so that a benchmark can be taken up again."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rldebug.benchmark.corpus import Case, CorpusError
from rldebug.benchmark.execute import load, run_python
from rldebug.benchmark.lines import append_line, read_lines
from rldebug.benchmark.means.means import REPORT
from rldebug.benchmark.program import arguments, digest, lay_out
from rldebug.benchmark.shelf import find

Key = tuple[str, str, str, str]
_PEER_SECONDS = 6.0  # times what the program itself may take
_SAID = 300  # characters of what a command that failed said last
_ONLY_JUDGES = (
    "benchmark", "render", "commands", "rules", "forensics", "oracles", "probes", "algos", "integrations", "demo",
    "diagnose.py", "recorded.py", "verify.py", "probe.py", "env.py", "transplant.py", "symptoms.py", "testing.py",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """One program, and whom to ask about it. A peer is a script, and has one means: itself."""

    case: Case
    tool: str
    means: str
    script: Path | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    kept: Path | None = None  # where recordings are kept

    @property
    def key(self) -> Key:
        """Another text of what is looked at, or another version of the tool, is another question."""
        if self.script is not None:
            how = repr((_digest_of(self.script, *_shared(self.script)), self.measured))
            return self.tool, self.means, digest(self.case), hashlib.sha256(how.encode()).hexdigest()[:12]
        means = find(self.means)
        if self.case.base.missing() or means.lacks(self.case.base):
            return self.tool, self.means, self.case.base.name, "does not apply"
        files = None if means.files is None else means.files(self.case.base)
        records = () if means.records is None else means.records(self.case)
        how = repr((_digest_of_rldebug(), *records, means.commands(self.case), means.changes(self.case.base)))
        return self.tool, self.means, digest(self.case, files), hashlib.sha256(how.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Found:
    """One finding, as far as it is scored."""

    component: str
    severity: str
    code: str = ""
    file: str | None = None
    line: int | None = None
    env_step: int | None = None


@dataclass(frozen=True)
class Answer:
    """`could_not`: why it was not asked, or had no answer."""

    tool: str
    means: str
    program: str  # digest of what was looked at
    version: str  # digest of the tool
    findings: tuple[Found, ...] = ()
    suspects: tuple[tuple[str, float], ...] = ()  # component and how suspect it is, the most suspect first
    could_not: str = ""
    how: Literal["answered", "does not apply", "failed"] = "answered"
    seconds: float = 0.0
    case: str = ""

    @property
    def key(self) -> Key:
        return self.tool, self.means, self.program, self.version


def ask(question: Question, forked: bool = False) -> Answer:
    """Never raises for what a program or a tool does."""
    answer = _ask_peer(question) if question.script is not None else _ask_rldebug(question, forked)
    return replace(answer, case=question.case.id)


def _ask_rldebug(question: Question, forked: bool) -> Answer:
    case, means = question.case, find(question.means)
    reason = case.base.missing() or means.lacks(case.base)
    if reason:
        return Answer(*question.key, could_not=reason, how="does not apply")
    forked = forked and not case.base.fresh
    if forked:
        load(case.base.needs)
    reports, seconds, failed = [], 0.0, ""
    with tempfile.TemporaryDirectory(prefix="rldebug-") as made:
        folder = Path(made).resolve() / "program"
        folder.mkdir()
        try:
            lay_out(case, folder, more=means.changes(case.base))
        except CorpusError as error:  # the bug sits where the user's lines would go
            return Answer(*question.key, could_not=str(error), how="does not apply")
        if means.records is not None:
            seconds += _record(question, means.records(case), folder, forked)
        for place, words in enumerate(means.commands(case)):
            report = folder.parent / f"report-{place}.json"
            ended = run_python(
                [each.replace(REPORT, str(report)) for each in words],
                folder,
                cpu_seconds=max(means.cpu_seconds, case.base.cpu_seconds),
                forked=forked,
            )
            seconds += ended.wall
            if report.is_file():
                reports.append(json.loads(report.read_text(encoding="utf-8")))
            elif any(REPORT in each for each in words):
                failed = failed or (ended.err.strip() or f"exit status {ended.code}")[-_SAID:]
    if not reports:
        return Answer(*question.key, could_not=failed, how="failed", seconds=round(seconds, 1))
    findings = [_found(each) for report in reports for each in report["findings"] if not each.get("follows")]
    suspects = together((each["component"], each["score"]) for report in reports for each in report["suspects"])
    return Answer(*question.key, tuple(findings), suspects, failed, seconds=round(seconds, 1))


def _record(question: Question, commands: Sequence[Sequence[str]], folder: Path, forked: bool) -> float:
    """Run folders of the program: those kept from before, where nothing that records has changed; else new ones.

    Rules are tried out far more often than hooks are changed, and watching takes far longer than judging.
    """
    words = repr((digest(question.case), _digest_of_rldebug(but=_ONLY_JUDGES), commands))
    kept = question.kept and question.kept / f"{hashlib.sha256(words.encode()).hexdigest()[:16]}.tar"
    if kept and kept.is_file():
        with tarfile.open(kept) as archive:
            archive.extractall(folder, filter="data")
        return 0.0
    seconds, limit = 0.0, max(find(question.means).cpu_seconds, question.case.base.cpu_seconds)
    for each in commands:
        seconds += run_python(each, folder, cpu_seconds=limit, forked=forked).wall
    if kept and (folder / ".rldebug").is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_suffix(f".{os.getpid()}")
        with tarfile.open(draft, "w:gz", compresslevel=1) as archive:
            archive.add(folder / ".rldebug", ".rldebug")
        draft.replace(kept)
    return seconds


def _ask_peer(question: Question) -> Answer:
    case = question.case
    assert question.script is not None
    reason = case.base.missing()
    if reason:
        return Answer(*question.key, could_not=reason, how="does not apply")
    with tempfile.TemporaryDirectory(prefix="rldebug-") as made:
        folder, told, report = (Path(made).resolve() / each for each in ("program", "case.json", "report.json"))
        folder.mkdir()
        lay_out(case, folder)
        about = {
            "entry": case.base.entry,
            "args": arguments(case),
            "env_check": dict(case.base.env_check),
            "probe": dict(case.base.probe),
            "cpu_seconds": case.base.cpu_seconds,
            "measured": dict(question.measured),
        }
        told.write_text(json.dumps(about), encoding="utf-8")
        limit = _PEER_SECONDS * case.base.cpu_seconds
        ended = run_python([str(question.script), str(told), str(report)], folder, cpu_seconds=limit)
        seconds = round(ended.wall, 1)
        if not report.is_file():
            said = (ended.err.strip() or f"exit status {ended.code}")[-_SAID:]
            return Answer(*question.key, could_not=said, how="failed", seconds=seconds)
        data = json.loads(report.read_text(encoding="utf-8"))
    if data["not_applicable"]:
        return Answer(*question.key, could_not=data["not_applicable"], how="does not apply", seconds=seconds)
    findings = tuple(_found(each) for each in data["findings"])
    names = dict.fromkeys(each.component for each in findings if each.severity != "note" and each.component)
    suspects = tuple((each, 1.0 / (2 + place)) for place, each in enumerate(names))  # in order, without a score
    return Answer(*question.key, findings, suspects, seconds=seconds)


def together(suspects: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """What several reports say against components: the chance that at least one is right, as within a report."""
    innocent: dict[str, float] = {}
    for component, score in suspects:
        innocent[component] = innocent.get(component, 1.0) * (1.0 - score)
    return tuple((each, round(1.0 - innocent[each], 4)) for each in sorted(innocent, key=lambda each: innocent[each]))


def _found(data: Mapping[str, Any]) -> Found:
    where = data.get("where") or {}
    file = where.get("file")
    return Found(
        data["component"],
        data["severity"],
        data.get("code", ""),
        Path(file).name if file else None,
        where.get("line"),
        where.get("env_step"),
    )


class Answers:
    """A file of answers, one on a line, only ever appended to."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.known: dict[Key, Answer] = {}
        for data in read_lines(file):
            try:
                data["findings"] = tuple(Found(**each) for each in data["findings"])
                data["suspects"] = tuple((component, score) for component, score in data["suspects"])
                answer = Answer(**data)
            except (KeyError, TypeError):
                continue  # of an older format
            self.known[answer.key] = answer

    def add(self, answer: Answer) -> None:
        self.known[answer.key] = answer
        self.file.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.file, asdict(answer))

    def open(self, questions: Iterable[Question]) -> list[Question]:
        """Those without an answer yet; of several with the same answer, the first."""
        return list({each.key: each for each in reversed(list(questions)) if each.key not in self.known}.values())[::-1]

    def to(self, questions: Iterable[Question]) -> list[Answer]:
        """What is known."""
        return [replace(self.known[each.key], case=each.case.id) for each in questions if each.key in self.known]


@cache
def _digest_of_rldebug(but: tuple[str, ...] = ("benchmark", "render")) -> str:
    root = Path(__file__).resolve().parent.parent
    files = [each for each in sorted(root.rglob("*.py")) if each.relative_to(root).parts[0] not in but]
    how = root / "benchmark" / "execute.py"  # another way of running programs is another recording
    return _digest_of(how, *(each for each in files if each.name != "bench.py"))


def _shared(script: Path) -> list[Path]:
    return [each for each in (script.with_name("recorder.py"),) if each.is_file()]


@cache
def _digest_of(*files: Path) -> str:
    told = hashlib.sha256()
    for each in files:
        told.update(each.read_bytes())
    return told.hexdigest()[:12]
