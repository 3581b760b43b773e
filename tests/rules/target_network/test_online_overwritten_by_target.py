from rldebug.rules.target_network.online_overwritten_by_target import OnlineOverwrittenByTarget
from tests.programs.targets import found, seen


def test_fires_where_the_copy_goes_the_wrong_way():
    (finding,) = found(OnlineOverwrittenByTarget(), seen("q_learner", "backwards"))
    assert finding.severity == "error"
    assert finding.where.line is not None


def test_quiet_where_the_target_follows():
    assert not found(OnlineOverwrittenByTarget(), seen("q_learner"))
    assert not found(OnlineOverwrittenByTarget(), seen("q_learner", "soft"))
