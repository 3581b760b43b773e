from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT325"


def test_fires_where_the_bounds_are_a_million_apart():
    (finding,) = findings(lambda: ppo("tiny range", numbers=True), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_bounds_fit():
    assert not found(CODE, numbers=True)
