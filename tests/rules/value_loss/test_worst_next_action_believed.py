from rldebug.rules.value_loss.worst_next_action_believed import WorstNextActionBelieved
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_target_takes_the_smallest_value():
    (finding,) = found(WorstNextActionBelieved(), learned("least"))
    assert finding.component == "value-loss"
    assert "smallest" in finding.seen


def test_quiet_where_it_takes_the_largest():
    assert not found(WorstNextActionBelieved(), learned())
