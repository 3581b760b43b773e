from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ENT310"


def test_fires_in_a_program_that_was_watched():
    (finding,) = findings(lambda: ppo("entropy summed"), CODE, overhead_budget=1.0)
    assert finding.component == "entropy"
    assert "sum over 64 rows" in finding.seen


def test_quiet_where_both_are_averaged():
    assert not found(CODE)


def test_quiet_where_the_bonus_is_large_but_averaged():
    assert not found(CODE, "entropy drowns")
