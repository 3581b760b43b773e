from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "VAL330"


def test_fires_where_values_are_a_column():
    (finding,) = findings(lambda: ppo("value pairs"), CODE, overhead_budget=1.0)
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_both_are_rows():
    assert not found(CODE)
