from rldebug.rules.value_loss.next_values_averaged import NextValuesAveraged
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_target_takes_the_mean():
    (finding,) = found(NextValuesAveraged(), learned("mean"))
    assert finding.component == "value-loss"
    assert "mean" in finding.seen


def test_quiet_where_it_takes_the_largest():
    assert not found(NextValuesAveraged(), learned())
