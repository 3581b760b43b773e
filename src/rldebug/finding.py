"""Findings and the report: what a rule says, and what all rules together say."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rldebug.entry import PREFIXES

Severity = Literal["error", "warning", "note"]
"""error: the result cannot be right · warning: probably wrong · note: worth knowing."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
COMPONENTS: tuple[str, ...] = tuple(PREFIXES.values())
OUT_OF_TIME = "needs more time, which `rldebug report` takes"  # why a rule did not run that could have

# A note never makes a component suspect: a healthy program may carry notes and must stay unsuspected.
_WEIGHT: dict[Severity, float] = {"error": 1.0, "warning": 0.7, "note": 0.0}
_RARE = ("end_line", "function", "seen_at")  # of a place: in the report only where they are known
_FOLDED = 0.25  # a folded finding still speaks for its component, but quietly


@dataclass(frozen=True)
class Where:
    """As small a place as is known: a line of the user's code, an update, an env step, a tensor."""

    file: str | None = None
    line: int | None = None
    update: int | None = None
    env_step: int | None = None
    tensor: str | None = None
    column: int | None = None  # of the line, counted from 1
    end_line: int | None = None  # the last, where it is one of several lines
    function: str | None = None  # that these lines stand in
    seen_at: str | None = None  # file:line where it showed, where that is not where it was done

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file
        if place and self.line and self.column:
            place += f":{self.column}"
        if place and self.end_line:
            place += f"–{self.end_line}" + (f" in {self.function}" if self.function else "")
        parts = [
            place,
            self.tensor,
            None if self.update is None else f"update {thousands(self.update)}",
            None if self.env_step is None else f"{thousands(self.env_step)} env steps",
            None if self.seen_at is None else f"seen at {self.seen_at.replace(f'{self.file}:', 'line ', 1)}",
        ]
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True)
class Edit:
    """A change of the text that mends a finding for certain. Lines and columns count from 1; the end is past it."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


# How IPython and Jupyter show what is found. What draws it stands far above this layer: only they import it.
def _html(shown: object) -> str:
    return str(importlib.import_module("rldebug.render.cell").html(shown))


def _pretty(shown: object, printer: Any, cycle: bool) -> None:
    printer.text(importlib.import_module("rldebug.render.cell").text(shown))


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, in the user's own numbers."""

    code: str
    name: str
    component: str
    severity: Severity
    message: str
    seen: str
    expected: str
    help: str
    confidence: float
    where: Where = Where()
    follows: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()  # of the file it points at; for `rldebug lint --fix`, not part of the report
    speedup: float | None = None  # how many times as fast the whole run would be, for advice about speed

    _repr_html_, _repr_pretty_ = _html, _pretty

    def __post_init__(self) -> None:
        # Here rather than in the report: a rule that gets it wrong is broken, and the other findings still come out.
        if self.severity not in SEVERITIES:
            raise ValueError(f"{self.code}: severity is {self.severity!r}, expected one of {', '.join(SEVERITIES)}")
        if self.component not in COMPONENTS:
            raise ValueError(f"{self.code}: no component is called {self.component!r}")
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"{self.code}: confidence is {self.confidence!r}, expected a share between 0 and 1")

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "name": self.name,
            "component": self.component,
            "severity": self.severity,
            "confidence": float(self.confidence),
            "message": self.message,
            "seen": self.seen,
            "expected": self.expected,
            "help": self.help,
            "where": {
                "file": self.where.file,
                "line": _whole(self.where.line),
                "update": _whole(self.where.update),
                "env_step": _whole(self.where.env_step),
                "tensor": self.where.tensor,
                "column": _whole(self.where.column),
                **{name: value for name in _RARE if (value := getattr(self.where, name)) is not None},
            },
            "follows": list(self.follows),
            **({} if self.speedup is None else {"speedup": round(float(self.speedup), 4)}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Finding:
        rest = {key: value for key, value in data.items() if key not in ("where", "follows")}
        return Finding(**rest, where=Where(**data["where"]), follows=tuple(data["follows"]))


@dataclass(frozen=True)
class Suspect:
    component: str
    score: float
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """Everything a diagnosis has to say, including what it could not check and why."""

    command: str
    findings: tuple[Finding, ...] = ()
    checked: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    program: Mapping[str, Any] | None = None
    exit: int | None = 0
    title: str = ""
    problems: tuple[str, ...] = ()  # what could not be read, for the reader of the report; not part of the contract

    _repr_html_, _repr_pretty_ = _html, _pretty

    @property
    def roots(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.follows)

    @property
    def folded(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.follows)

    @property
    def clean(self) -> bool:
        return not any(finding.severity != "note" for finding in self.findings)

    @property
    def unfinished(self) -> bool:
        """Whether rules that could have run were left out, because it took too long."""
        return OUT_OF_TIME in self.skipped.values()

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """Components, most suspect first: the chance that at least one finding against them is right."""
        guilt: dict[str, dict[str, float]] = {}  # component -> code -> weight
        for finding in self.findings:
            weight = _WEIGHT[finding.severity] * finding.confidence * (_FOLDED if finding.follows else 1.0)
            if weight > 0:
                # The strongest of a rule: one that speaks once per layer knows no more than one that speaks once.
                codes = guilt.setdefault(finding.component, {})
                codes[finding.code] = max(codes.get(finding.code, 0.0), weight)
        innocent = {each: math.prod(1.0 - weight for weight in codes.values()) for each, codes in guilt.items()}
        ranked = sorted(innocent, key=lambda component: innocent[component])
        return tuple(Suspect(each, round(1.0 - innocent[each], 4), tuple(guilt[each])) for each in ranked)

    def to_dict(self) -> dict[str, Any]:
        """The machine-readable report; `report.schema.json` is its contract."""
        return {
            "format": 1,
            "command": self.command,
            "exit": self.exit,
            "suspects": [
                {"component": each.component, "score": each.score, "codes": list(each.codes)} for each in self.suspects
            ],
            "findings": [finding.to_dict() for finding in self.findings],
            "program": None if self.program is None else dict(self.program),
            "checked": list(self.checked),
            "skipped": dict(self.skipped),
            "broken": dict(self.broken),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Report:
        """From what `to_dict` says, and the title and problems where somebody has put them there too."""
        return Report(
            command=data["command"],
            findings=tuple(Finding.from_dict(each) for each in data["findings"]),
            checked=tuple(data["checked"]),
            skipped=data["skipped"],
            broken=data["broken"],
            program=data["program"],
            exit=data["exit"],
            title=data.get("title", ""),
            problems=tuple(data.get("problems", ())),
        )


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Roots before followers, severe before mild, what is wrong before what is slow, the largest gain first, sure
    before unsure."""
    order = {severity: place for place, severity in enumerate(SEVERITIES)}

    def key(each: Finding) -> tuple[object, ...]:
        gain = each.speedup or 0.0
        return bool(each.follows), order[each.severity], gain > 0, -gain, -each.confidence, each.code

    return tuple(sorted(findings, key=key))


def _whole(number: int | None) -> int | None:
    return None if number is None else int(number)  # rules count with numpy, whose integers JSON does not know


def thousands(number: int) -> str:
    """12 345 678: digits in threes, as the report prints them."""
    return f"{number:,}".replace(",", " ")
