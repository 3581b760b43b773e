"""Ranks of a program that trains in several processes, as the run they belong to tells of them."""

from typing import Any

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding


def child(
    number: int, *, norm: float = 5.0, gradient: float = 1.0, seen: float = 0.0, world: int | None = 2
) -> dict[str, Any]:
    """What a rank leaves behind; by default all are alike."""
    return {
        "kind": "child",
        "number": number,
        "rank": number,
        "world": world,
        "updates": 20,
        "steps": {f"optimizer@{each}": [gradient + each, 0.01] for each in range(8)},
        "weights": {f"net@{each}": norm + each for each in (3, 5, 7)},
        "seen": [seen + 0.1 * each for each in range(64)],
    }


def found(code: str, *children: dict[str, Any]) -> list[Finding]:
    """What one rule says of these ranks."""
    report = diagnose([Script(notes=children)], config=Config(select=(code,)), command="run")
    assert not report.broken
    return list(report.findings)
