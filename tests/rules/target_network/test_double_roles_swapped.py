from rldebug.rules.target_network.double_roles_swapped import DoubleRolesSwapped
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_the_trained_network_judges():
    (finding,) = found(DoubleRolesSwapped(), watched(lambda: q_learner("swapped"), overhead_budget=10.0)[1])
    assert finding.component == "target-network"


def test_quiet_where_the_target_judges():
    assert not found(DoubleRolesSwapped(), seen("q_learner", "double"))
    assert not found(DoubleRolesSwapped(), seen("q_learner"))
