from rldebug.rules.target_network.online_overwritten_by_target import OnlineOverwrittenByTarget
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_the_copy_goes_the_wrong_way():
    (finding,) = found(OnlineOverwrittenByTarget(), watched(lambda: q_learner("backwards"), overhead_budget=10.0)[1])
    assert finding.severity == "error"
    assert finding.where.line is not None


def test_quiet_where_the_target_follows():
    assert not found(OnlineOverwrittenByTarget(), seen("q_learner"))
    assert not found(OnlineOverwrittenByTarget(), seen("q_learner", "soft"))
