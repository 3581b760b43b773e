import pytest

from rldebug.rule import NotEnough
from rldebug.rules.target_network.target_is_online_network import TargetIsOnlineNetwork
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_both_names_stand_for_one_network():
    (finding,) = found(TargetIsOnlineNetwork(), watched(lambda: q_learner("one object"), overhead_budget=10.0)[1])
    assert finding.severity == "error"


def test_quiet_where_it_is_a_copy():
    with pytest.raises(NotEnough):
        found(TargetIsOnlineNetwork(), seen("q_learner"))


def test_quiet_where_a_target_is_loaded_with_its_own_weights():
    assert not found(TargetIsOnlineNetwork(), seen("q_learner", "onto itself"))
