import dataclasses
from typing import Any

import numpy as np

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.finding import Finding
from tests.programs.made import call, nodes, script

CODE = "NRM360"


def found(scales: list[float], loaded_at: int) -> list[Finding]:
    draw = np.random.default_rng(0)
    audits: list[Any] = []
    for number, scale in enumerate(scales):
        obs = draw.normal(size=(40, 3)) * 4
        of_audit = nodes(obs, phase=number)
        rows = np.arange(40)
        events = [call(0, rows, obs / scale, acting=True, match="alias"), call(1, rows, obs / scale, grad=True)]
        audits.append((of_audit, events))
    made = script(audits)
    made = dataclasses.replace(made, notes=[{"kind": "restored", "module": "net", "file": "a.pt", "update": loaded_at}])
    report = diagnose([made], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


def test_fires_where_the_scale_jumps_as_weights_are_loaded():
    (finding,) = found([4.0, 4.1, 4.1, 1.0], 3)
    assert finding.component == "normalisation"


def test_quiet_where_it_goes_on_as_before_or_jumps_by_itself():
    assert not found([4.0, 4.1, 4.1, 4.2], 3)
    assert not found([4.0, 4.1, 1.0, 1.0], 3)
