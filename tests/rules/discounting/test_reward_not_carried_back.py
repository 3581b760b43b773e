from rldebug.rules.discounting.reward_not_carried_back import RewardNotCarriedBack
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_the_first_step_is_worth_too_little():
    found = fires(RewardNotCarriedBack(), ladder(passed("constant-reward"), values("delayed-reward", [0.5, 1.0])))
    assert "first 0.50" in found.seen


def test_quiet_where_it_passed():
    quiet(RewardNotCarriedBack(), ladder(passed("delayed-reward", "discount-chain")))
