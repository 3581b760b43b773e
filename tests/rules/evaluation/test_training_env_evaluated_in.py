from typing import Any

import numpy as np

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding
from tests.programs.made import call, nodes, script

CODE = "EVA354"


def found(world: int, at: list[int], lives: int = 99) -> list[Finding]:
    obs = np.random.default_rng(0).normal(size=(40, 3))
    streams: list[dict[str, Any]] = [
        {"facts": {"worlds": [11, 12]}, "at": [1, 30, 60, lives]},
        {"facts": {"worlds": [world]}, "at": at, "steps": 60},
    ]
    rows = np.arange(40)
    made = script([(nodes(obs), [call(0, rows, obs, acting=True), call(1, rows, obs, grad=True)])], streams)
    things = {**made.things, "counts": {"all": {"updates": 100}}}
    report = diagnose([Script(made.audits, things)], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


def test_fires_where_the_same_world_is_played_between_updates():
    (finding,) = found(12, [20, 20, 40, 40])
    assert finding.component == "evaluation"


def test_quiet_where_it_is_another_or_where_training_has_ended():
    assert not found(13, [20, 20, 40, 40])
    assert not found(12, [100, 100])
    assert not found(12, [70, 80, 90], lives=65)
