from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL306"


def test_fires_where_advantages_are_a_column():
    (finding,) = findings(lambda: ppo("pairs"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_both_are_rows():
    assert not found(CODE)
