import pytest

from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL310"


def test_fires_in_a_program_that_was_watched():
    (finding,) = findings(lambda: ppo("one bound"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert "lower" in finding.message


def test_fires_where_the_lower_bound_is_below_zero():
    (finding,) = found(CODE, "bound below")
    assert "-0.05" in finding.seen


@pytest.mark.parametrize("bug", ["", "bound by bound", "dual clip"])
def test_quiet_where_both_bounds_are_there(bug):
    assert not found(CODE, bug)
