from rldebug.rules.action_sampling.forbidden_action_believed import ForbiddenActionBelieved
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.targets import seen

rule = ForbiddenActionBelieved()


def test_fires_where_walls_are_left_out_only_when_acting():
    finding = fires(rule, wild.seen("dqn", "walls-left-out-when-acting")[1])
    assert finding.component == "action-sampling"
    assert finding.where.line is not None


def test_quiet_where_every_action_may_be_taken():
    quiet(rule, wild.seen("dqn")[1])


def test_not_enough_where_actions_are_drawn_by_a_policy():
    assert "asked for some actions" in not_enough(rule, seen("ddpg"))
