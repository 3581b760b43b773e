from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL302"


def test_fires_where_old_and_new_are_swapped():
    (finding,) = findings(lambda: ppo("inverted"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_new_is_divided_by_old():
    assert not found(CODE)


def test_quiet_where_a_divergence_has_it_the_other_way_round():
    assert not found(CODE, "divergence")
