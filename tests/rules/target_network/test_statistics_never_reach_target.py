from dataclasses import replace

import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.target_network.statistics_never_reach_target import StatisticsNeverReachTarget
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_only_parameters_are_averaged():
    (finding,) = found(StatisticsNeverReachTarget(), watched(lambda: q_learner("statistics"), overhead_budget=10.0)[1])
    assert finding.component == "target-network"


def test_quiet_where_statistics_follow():
    assert not found(StatisticsNeverReachTarget(), _copied(seen("q_learner", "statistics")))


def test_quiet_without_statistics():
    with pytest.raises(NotEnough):
        found(StatisticsNeverReachTarget(), seen("q_learner", "soft"))


def _copied(script: Script) -> Script:
    """The same run, had every network the statistics of the one that is trained."""
    audits = []
    for audit in script.audits:
        told = {id(each): each.get("statistics") for each in audit.of("weights")}
        best = next((each for each in audit.of("weights") if each.get("trained")), None)
        events = [
            replace(each, detail={**each.detail, "statistics": best["statistics"]})
            if told.get(id(each)) and best
            else each
            for each in audit.events
        ]
        audits.append(replace(audit, events=tuple(events)))
    return replace(script, audits=audits)
