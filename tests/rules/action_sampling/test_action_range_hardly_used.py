import numpy as np
import pytest

from rldebug.evidence.script import Event
from rldebug.rules.action_sampling.action_range_hardly_used import ActionRangeHardlyUsed
from tests.judge import fires, quiet
from tests.programs.made import nodes, script
from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT325"


def test_fires_where_the_bounds_are_a_million_apart():
    (finding,) = findings(lambda: ppo("tiny range", numbers=True), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_bounds_fit():
    assert not found(CODE, numbers=True)


def pumped(centre, high=60.0, reached=4.0):
    """Draws around a centre with a deviation of one, cut off at the bounds of a pump that goes from 0 to `high`."""
    rng, audits = np.random.default_rng(0), []
    for number in range(4):
        drawn = rng.normal(centre, 1.0, size=(256, 1))
        event = Event(0, "sample", number, 0, {"dist": "Normal"}, {"result": drawn})
        audits.append((nodes(rng.normal(size=(8, 3))), [event]))
    facts = {"action_space": "Box", "action_low": [0.0], "action_high": [high]}
    return script(audits, [{"facts": facts, "action": {"low": [0.0], "high": [reached]}}])


def test_fires_on_a_policy_at_the_edge_of_a_wide_range():
    assert "beyond a bound" in fires(ActionRangeHardlyUsed(), pumped(0.0)).seen


@pytest.mark.parametrize("options", [{"centre": 2.0}, {"centre": 0.0, "high": 8.0}, {"centre": 0.0, "reached": 40.0}])
def test_quiet_within_the_range_and_where_more_of_it_is_reached(options):
    quiet(ActionRangeHardlyUsed(), pumped(**options))
