from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL303"


def test_fires_where_the_larger_gain_is_taken():
    (finding,) = findings(lambda: ppo("larger"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_the_bound_holds_for_all_rows():
    assert findings(lambda: ppo("dual clip"), CODE, overhead_budget=1.0)


def test_fires_where_advantages_are_normalised_in_between():
    assert findings(lambda: ppo("two advantages"), CODE, overhead_budget=1.0)


def test_quiet_where_the_smaller_gain_is_taken():
    assert not found(CODE)
