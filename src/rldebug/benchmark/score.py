"""From answers to scores: how many bugs were found, how well they were named, how many healthy programs accused."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rldebug.benchmark.ask import Answer, Found, together
from rldebug.benchmark.corpus import Case
from rldebug.benchmark.program import changed_lines
from rldebug.benchmark.shelf import RLDEBUG
from rldebug.finding import COMPONENTS

Goal = Literal["at least", "at most"]
TARGETS: tuple[tuple[str, str, Goal, float], ...] = (
    ("run", "detected", "at least", 0.80),
    ("run", "first", "at least", 0.70),
    ("union", "detected", "at least", 0.90),
    ("union", "first", "at least", 0.80),
    ("union", "alarms", "at most", 0.02),
    ("union", "errors", "at most", 0.0),
)
"""What the validation half is held to: means, which score, and how much."""
NEAR = 3  # lines: so far off a line is still right
_Z = 1.96
UNION = "union"
NO_COMPONENT = "no component"
_WORDS = {
    "detected": "detected",
    "first": "right component first",
    "alarms": "healthy programs accused",
    "errors": "healthy programs with an error",
}


@dataclass(frozen=True)
class Share:
    """So many of so many, with Wilson's 95 % interval."""

    of: int
    hits: int

    @property
    def value(self) -> float:
        return self.hits / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return math.nan, math.nan
        n, p = self.of, self.value
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Verdict:
    """What was made of one program by one means, or by all of them together."""

    case: Case
    asked: bool  # somebody could look at it
    detected: bool
    first: bool = False
    in_three: bool = False
    code: bool | None = None  # None where the catalogue has none for this bug
    line: bool = False
    error: bool = False  # a finding of severity error
    suspect: str = ""  # the component named first
    env_step: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Scores:
    """Of one means, or of the union, on some programs."""

    means: str
    asked: int  # bugs that it could look at
    detected: Share
    first: Share
    in_three: Share
    code: Share
    line: Share
    alarms: Share  # healthy programs with a warning or an error
    errors: Share  # with an error
    env_steps: float | None  # median of those found
    seconds: float | None


def judge(case: Case, answers: Sequence[Answer]) -> Verdict:
    """All answers about one program, taken together."""
    answered = [each for each in answers if each.how == "answered"]
    loud = [found for each in answered for found in each.findings if found.severity != "note"]
    if not loud:
        return Verdict(case, bool(answered), False, code=False if case.codes else None)
    suspects = [each for each, _ in together(pair for each in answered for pair in each.suspects)]
    telling = [each for each in answered if any(found.severity != "note" for found in each.findings)]
    lines = changed_lines(case) if case.bug else {}
    steps = [each.env_step for each in loud if each.env_step is not None]
    return Verdict(
        case,
        asked=True,
        detected=True,
        first=bool(suspects) and suspects[0] in case.components,
        in_three=any(each in case.components for each in suspects[:3]),
        code=any(each.code in case.codes for each in loud) if case.codes else None,
        line=any(_near(each, lines) for each in loud),
        error=any(each.severity == "error" for each in loud),
        suspect=suspects[0] if suspects else "",
        env_step=min(steps, default=None),
        seconds=min(each.seconds for each in telling),
    )


def verdicts(cases: Iterable[Case], answers: Iterable[Answer]) -> dict[str, list[Verdict]]:
    """By means and by peer, and for the union of rldebug's means; a program that nobody asked about is left out."""
    by_case: dict[str, list[Answer]] = {}
    for each in answers:
        by_case.setdefault(each.case, []).append(each)
    names = list(dict.fromkeys(each.means for group in by_case.values() for each in group))
    found: dict[str, list[Verdict]] = {each: [] for each in names}
    union: list[Verdict] = []
    for case in cases:
        group = by_case.get(case.id, [])
        for name in names:
            one = [each for each in group if each.means == name]
            if one:
                found[name].append(judge(case, one))
        own = [each for each in group if each.tool == RLDEBUG]
        if own:
            union.append(judge(case, own))
    several = len({each.means for group in by_case.values() for each in group if each.tool == RLDEBUG}) > 1
    return {**found, UNION: union} if several else found


def score(means: str, judged: Sequence[Verdict]) -> Scores:
    """A bug that a means could not look at counts as not found; a healthy program that it could not, not at all."""
    bugs = [each for each in judged if each.case.bug]
    controls = [each for each in judged if not each.case.bug and each.asked]
    coded = [each for each in bugs if each.code is not None]
    hit = [each for each in bugs if each.detected]
    steps = [each.env_step for each in hit if each.env_step is not None]
    seconds = [each.seconds for each in hit if each.seconds is not None]
    return Scores(
        means,
        sum(each.asked for each in bugs),
        _share(bugs, lambda each: each.detected),
        _share(bugs, lambda each: each.first),
        _share(bugs, lambda each: each.in_three),
        _share(coded, lambda each: bool(each.code)),
        _share(bugs, lambda each: each.line),
        _share(controls, lambda each: each.detected),
        _share(controls, lambda each: each.error),
        statistics.median(steps) if steps else None,
        statistics.median(seconds) if seconds else None,
    )


def targets(judged: Mapping[str, Sequence[Verdict]]) -> list[tuple[str, bool | None]]:
    """Each target in words, and whether the validation half meets it; None where nobody was asked."""
    said: list[tuple[str, bool | None]] = []
    for means, which, goal, bar in TARGETS:
        half = [each for each in judged.get(means, ()) if each.case.base.half == "validation"]
        part: Share = getattr(score(means, half), which)
        words = f"{means}: {_WORDS[which]} {goal} {100 * bar:.0f} %"
        if not part.of:
            said.append((f"{words} — not asked", None))
            continue
        met = part.value >= bar if goal == "at least" else part.value <= bar
        said.append((f"{words} — {100 * part.value:.0f} %", met))
    return said


def as_data(judged: Mapping[str, Sequence[Verdict]]) -> dict[str, Any]:
    """Every verdict, for a program to read."""
    return {
        means: [
            {
                "case": each.case.id,
                "half": each.case.base.half,
                "bug": each.case.bug,
                "accepted": list(each.case.components),
                "asked": each.asked,
                "detected": each.detected,
                "suspect": each.suspect,
                "first": each.first,
                "in_three": each.in_three,
                "code": each.code,
                "line": each.line,
                "error": each.error,
                "env_step": each.env_step,
                "seconds": each.seconds,
            }
            for each in every
        ]
        for means, every in judged.items()
    }


def by_component(judged: Sequence[Verdict]) -> dict[str, tuple[Share, Share]]:
    """Of the bugs of each component (by their first label): detected, and named right first."""
    found = {}
    for component in COMPONENTS:
        bugs = [each for each in judged if each.case.bug and each.case.components[0] == component]
        if bugs:
            found[component] = _share(bugs, lambda each: each.detected), _share(bugs, lambda each: each.first)
    return found


def confusion(judged: Sequence[Verdict]) -> dict[tuple[str, str], int]:
    """How often a bug of one component (its label) was blamed on another.

    The empty name: nothing was found; NO_COMPONENT: something was, and no component blamed.

    A suspect that is accepted too counts as the label: it is an equivalent name of the same mistake.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for each in judged:
        if each.case.bug:
            label = each.case.components[0]
            pairs[label, label if each.first else (each.suspect or NO_COMPONENT) if each.detected else ""] += 1
    return dict(pairs)


def _near(found: Found, lines: Mapping[str, tuple[int, ...]]) -> bool:
    changed = {file.rpartition("/")[2]: each for file, each in lines.items()}.get(found.file or "", ())
    return found.line is not None and any(abs(found.line - each) <= NEAR for each in changed)


def _share(judged: Sequence[Verdict], holds: Callable[[Verdict], bool]) -> Share:
    return Share(len(judged), sum(holds(each) for each in judged))
