from rldebug.rules.target_network.target_acts import TargetActs
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.targets import seen

rule = TargetActs()


def test_fires_where_the_copy_is_asked_what_to_do():
    finding = fires(rule, wild.seen("dqn", "copy-acts")[1])
    assert finding.component == "target-network"
    assert finding.where.line is not None


def test_quiet_where_the_network_that_learns_acts():
    quiet(rule, seen("q_learner"))
    quiet(rule, seen("q_learner", "soft"))


def test_not_enough_where_a_policy_acts():
    assert "policy" in not_enough(rule, seen("ddpg"))
