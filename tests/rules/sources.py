"""Texts of programs that rules are put before: `# here` marks the line that must be blamed."""

from __future__ import annotations

from textwrap import dedent

from rldebug.evidence.source import Source, parsed
from rldebug.finding import Finding
from rldebug.rule import Rule
from tests.judge import fires

_HERE = "# here"


def text(code: str) -> Source:
    return parsed(dedent(code), "train.py")


def points_at(rule: Rule, code: str) -> Finding:
    """The rule fires, once for each line that ends with `# here`, and nowhere else."""
    source = text(code)
    finding = fires(rule, source)
    marked = [place for place, line in enumerate(source.lines, 1) if line.rstrip().endswith(_HERE)]
    assert marked, "no line is marked with # here"
    blamed = sorted({each.where.line for each in rule.check(source)})
    assert blamed == marked, f"{rule.name} blames {blamed}, expected {marked}"
    return finding
