from rldebug.rules.buffer.importance_weights_rise_with_error import ImportanceWeightsRiseWithError
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_exponent_is_positive():
    (finding,) = found(ImportanceWeightsRiseWithError(), learned("weighted-up"))
    assert finding.component == "buffer"
    assert "rise together" in finding.seen


def test_quiet_where_rows_drawn_often_are_weighted_down():
    assert not found(ImportanceWeightsRiseWithError(), learned())
