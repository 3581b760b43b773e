from rldebug.rules.discounting.several_steps_discounted_wrongly import SeveralStepsDiscountedWrongly
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_bootstrap_is_discounted_once():
    (finding,) = found(SeveralStepsDiscountedWrongly(), learned("once", n=3))
    assert finding.component == "discounting"
    assert "power of 1" in finding.seen


def test_quiet_where_it_is_discounted_for_each_step():
    assert not found(SeveralStepsDiscountedWrongly(), learned(n=3))


def test_fires_where_rewards_are_summed_up():
    (finding,) = found(SeveralStepsDiscountedWrongly(), learned("summed", n=3))
    assert "every reward counts 1" in finding.seen


def test_fires_where_the_value_is_that_of_the_first_step():
    (finding,) = found(SeveralStepsDiscountedWrongly(), learned("near", n=3))
    assert "one step on" in finding.seen


def test_fires_where_the_last_reward_counts_most():
    (finding,) = found(SeveralStepsDiscountedWrongly(), learned("reversed", n=3))
    assert "the other way round" in finding.message
