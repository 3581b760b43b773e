from rldebug.rules.buffer.input_still_in_next_row import InputStillInNextRow
from tests.programs.formulas import found
from tests.programs.value_learners import relabelled


def test_fires_where_the_policy_acts_without_the_goal_it_learns_with():
    (finding,) = found(InputStillInNextRow(), relabelled("acts-without-goal"))
    assert finding.component == "buffer"
    assert finding.seen.startswith("columns 7, 8, 9")


def test_quiet_where_it_acts_on_what_it_learns_with():
    assert not found(InputStillInNextRow(), relabelled())
