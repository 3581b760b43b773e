from rldebug.rules.value_loss.index_taken_for_value import IndexTakenForValue
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_index_stands_for_the_value():
    (finding,) = found(IndexTakenForValue(), learned("index"))
    assert finding.component == "value-loss"
    assert "plus 0.9 times" in finding.seen


def test_quiet_where_the_value_is_taken():
    assert not found(IndexTakenForValue(), learned())
