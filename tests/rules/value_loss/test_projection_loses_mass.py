import pytest

from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.value_loss.projection_loses_mass import ProjectionLosesMass
from tests.programs.value_learners import categorical, categorised, learned
from tests.watched import watched


def found(fault: str) -> list[Finding]:
    return list(ProjectionLosesMass().check(categorised(fault)))


def test_fires_where_what_falls_on_one_atom_is_written_over() -> None:
    script = watched(lambda: categorical("overwritten"), overhead_budget=10.0)[1]
    (finding,) = ProjectionLosesMass().check(script)
    assert "discount 0.9" in finding.seen


def test_quiet_where_it_is_added_up() -> None:
    assert not found("")


def test_quiet_where_rows_are_weighed() -> None:
    assert not found("weighed")


def test_quiet_where_ends_are_not_masked() -> None:
    assert not found("unmasked")


def test_nothing_is_said_of_targets_that_are_numbers() -> None:
    with pytest.raises(NotEnough):
        list(ProjectionLosesMass().check(learned()))
