from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL305"


def test_fires_where_the_mean_is_taken_first():
    (finding,) = findings(lambda: ppo("mean log-prob"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_each_row_has_its_weight():
    assert not found(CODE)
