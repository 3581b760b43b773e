import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.target_network.target_never_asked import TargetNeverAsked
from tests.programs.targets import by_method, found, q_learner, seen
from tests.watched import watched


def quiet(script: Script) -> bool:
    """Networks of other tests may still be alive, and are copies that nobody calls: they do not follow, though."""
    try:
        return not found(TargetNeverAsked(), script)
    except NotEnough:
        return True


def test_fires_where_the_trained_network_is_asked_in_its_place():
    (finding,) = found(TargetNeverAsked(), watched(lambda: q_learner("not asked"), overhead_budget=10.0)[1])
    assert finding.component == "target-network"
    assert finding.where.line is not None


def test_fires_where_that_network_is_asked_by_a_method_of_its_own():
    script = watched(lambda: by_method("not asked"), overhead_budget=10.0)[1]
    assert "not called once" in found(TargetNeverAsked(), script)[0].seen


@pytest.mark.parametrize(("parts", "soft"), [(1, False), (1, True), (2, False), (2, True)])
def test_quiet_where_the_parts_of_the_copy_are_asked(parts: int, soft: bool):
    assert quiet(seen("by_method", parts=parts, soft=soft))


def test_quiet_where_the_copy_is_used():
    assert quiet(seen("q_learner"))
    assert quiet(seen("q_learner", "soft"))
    assert quiet(seen("ddpg"))
