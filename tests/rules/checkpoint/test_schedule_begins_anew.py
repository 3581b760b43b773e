from typing import Any

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding

CODE = "CKP350"


def found(second: float, *, loaded: bool = True) -> list[Finding]:
    rates = {"opt": (1e-3, 2e-4), "opt-2": (second, 1e-4)}
    things = {
        "optimizer": {
            name: {"class": "Adam", "numel": 100, "steps": 50, "lr_first": first, "lr_last": last}
            for name, (first, last) in rates.items()
        }
    }
    notes: list[dict[str, Any]] = [{"kind": "restored", "optimizer": "opt-2", "file": "a.pt"}] if loaded else []
    report = diagnose([Script(things=things, notes=notes)], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


def test_fires_where_the_rate_jumps_back():
    (finding,) = found(1e-3)
    assert finding.component == "checkpoint"


def test_quiet_where_it_goes_on_or_where_training_is_new():
    assert not found(2e-4)
    assert not found(1e-3, loaded=False)
