from rldebug.rules.buffer.action_of_no_such_step import ActionOfNoSuchStep
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_actions_are_those_of_the_rows_beside():
    (finding,) = found(ActionOfNoSuchStep(), learned("actions-moved", "rooms"))
    assert finding.component == "buffer"
    assert "with another action" in finding.seen


def test_quiet_where_each_row_is_one_step():
    assert not found(ActionOfNoSuchStep(), learned(world="rooms"))
