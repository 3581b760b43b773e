from rldebug.rules.discounting.reward_discounted_too import RewardDiscountedToo
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_gamma_is_before_the_bracket():
    (finding,) = found(RewardDiscountedToo(), learned("all-discounted"))
    assert finding.component == "discounting"
    assert "0.9 times the reward" in finding.seen


def test_quiet_where_the_future_alone_is_discounted():
    assert not found(RewardDiscountedToo(), learned())
