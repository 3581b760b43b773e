from tests.programs.policies import categorical, found
from tests.watched import findings

CODE = "VAL332"


def test_fires_where_exact_hits_lose_their_mass():
    (finding,) = findings(lambda: categorical("loses mass"), CODE, overhead_budget=1.0)
    assert finding.component == "value-loss"
    assert "of" in finding.seen


def test_quiet_where_exact_hits_keep_it():
    assert not found(CODE, program="categorical")


def test_quiet_where_nothing_is_a_distribution():
    assert not found(CODE)
