"""Ranks of a program that trains in several processes, as the run they belong to tells of them."""

import math
from typing import Any

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding


def child(
    number: int, *, norm: float = 5.0, gradient: float = 1.0, seen: float = 0.0, world: int | None = 2, **more: Any
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
        **more,
    }


def sampled(
    number: int, factor: float, *, steps: int = 10, off: float = 0.0, clipped: bool = False, passes: int = 1
) -> dict[str, dict[str, Any]]:
    """Numbers of the gradients and weights of one of two ranks; it steps with `factor` times the mean of both."""
    found = {}
    for step in range(steps):
        local = [[math.sin(1.0 + 7 * rank + place + step) for place in range(8)] for rank in (0, 1)]
        used = [factor * (a + b) / 2 for a, b in zip(*local, strict=True)]
        found[f"optimizer@{step}"] = {
            "optimizer": "optimizer",
            "step": step,
            "update": step,
            "how": "SGD",
            "passes": passes,
            "local": [local[number]] if step else None,
            "clipped": [used] if clipped and step else None,
            "stepped": [[0.1 * each for each in used]] if clipped else [used],
            "weights": [[1.0 + off + 0.1 * place for place in range(8)]],
        }
    return found


def last(calls: int, *, waits: bool = False, what: str = "all_reduce", numel: int | None = 128) -> dict[str, Any]:
    """The last collective of a rank."""
    return {"calls": calls, "waits": waits, "what": what, "numel": numel, "line": ["train.py", 80], "update": 40}


def found(code: str, *children: dict[str, Any]) -> list[Finding]:
    """What one rule says of these ranks."""
    report = diagnose([Script(notes=children)], config=Config(select=(code,)), command="run")
    assert not report.broken
    return list(report.findings)
