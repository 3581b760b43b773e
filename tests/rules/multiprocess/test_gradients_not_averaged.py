from typing import Any

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding

CODE = "MPR351"


def child(
    number: int, *, norm: float = 5.0, gradient: float = 1.0, seen: float = 0.0, world: int | None = 2
) -> dict[str, Any]:
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


def found(*children: dict[str, Any]) -> list[Finding]:
    report = diagnose([Script(notes=children)], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


def test_fires_where_the_gradients_differ():
    (finding,) = found(child(0), child(1, gradient=1.2))
    assert finding.component == "multiprocess"


def test_quiet_where_they_agree_or_where_each_trains_by_itself():
    assert not found(child(0), child(1))
    assert not found(child(0, world=None), child(1, gradient=1.2, world=None))
