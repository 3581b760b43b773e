from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ENT300"


def test_fires_where_it_is_added():
    (finding,) = findings(lambda: ppo("entropy added"), CODE, overhead_budget=1.0)
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_it_is_subtracted():
    assert not found(CODE)
