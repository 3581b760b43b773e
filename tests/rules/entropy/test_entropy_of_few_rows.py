from tests.programs.policies import found, stepwise
from tests.watched import findings

CODE = "ENT303"


def test_fires_where_that_of_the_last_step_is_used():
    (finding,) = findings(lambda: stepwise("last entropy"), CODE, overhead_budget=1.0)
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_all_steps_count():
    assert not found(CODE, program="stepwise")
