from rldebug.rules.target_network.target_hardly_follows import TargetHardlyFollows
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = TargetHardlyFollows(steps=80)


def test_fires_where_tau_is_too_small_for_the_run():
    (finding,) = found(RULE, watched(lambda: q_learner("tau 0.0003"), overhead_budget=10.0)[1])
    assert finding.component == "target-network"


def test_quiet_where_it_follows_or_the_run_is_short():
    assert not found(RULE, seen("q_learner", "soft"))
    assert not found(RULE, seen("q_learner"))
    assert not found(TargetHardlyFollows(), seen("q_learner", "tau 0.0003"))
