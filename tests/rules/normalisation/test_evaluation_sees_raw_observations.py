from typing import Any

import numpy as np

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.finding import Finding
from tests.programs.made import call, nodes, script

CODE = "NRM361"


def found(trained: float, played: float, bound: float = np.inf) -> list[Finding]:
    """Two environments, the second is played and not learned from; each is divided by a number."""
    draw = np.random.default_rng(0)
    audits: list[Any] = []
    for number in (1, 2, 3):
        obs = draw.normal(size=(120, 3)) * 4
        stream = np.repeat([0, 1], 60)
        of_audit = nodes(obs, stream=stream, phase=number)
        first, second = np.arange(60), np.arange(60, 120)
        events = [
            call(0, first, obs[:60] / trained, acting=True, match="alias"),
            call(1, second, np.clip(obs[60:] / played, -bound, bound), acting=True, match="alias"),
            call(2, first, obs[:60] / trained, grad=True),
        ]
        audits.append((of_audit, events))
    made = script(audits, [{}, {"steps": 100}])
    for number, audit in enumerate(made.audits):
        for event in audit.events:
            object.__setattr__(event, "update", number + 1)
        term = {"kind": "policy", "op": "log-prob", "reached": ["net"], "match": "alias", "coefficient": 1.0}
        events = (*audit.events, type(audit.events[0])(1001, "term", number + 1, 0, term, {"rows": np.arange(60)}))
        object.__setattr__(audit, "events", events)
    report = diagnose([made], config=Config(select=(CODE,)), command="run")
    assert not report.broken, report.broken
    return list(report.findings)


def test_fires_where_the_evaluation_is_not_scaled():
    (finding,) = found(4.0, 1.0)
    assert finding.component == "normalisation"


def test_fires_where_it_is_only_cut_off():
    (finding,) = found(4.0, 1.0, bound=3.0)
    assert "100%" in finding.seen


def test_quiet_where_both_are_scaled_or_none_is():
    assert not found(4.0, 4.0)
    assert not found(4.0, 4.0, bound=1.0)
    assert not found(1.0, 1.0)
