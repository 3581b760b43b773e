from rldebug.rules.value_loss.one_bootstrap_for_the_batch import OneBootstrapForTheBatch
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_all_rows_get_the_largest_value_of_the_batch():
    (finding,) = found(OneBootstrapForTheBatch(), learned("batch"))
    assert finding.component == "value-loss"
    assert "whole batch" in finding.seen


def test_quiet_where_each_row_gets_its_own():
    assert not found(OneBootstrapForTheBatch(), learned())
