import pytest

from rldebug.rules.discounting.reward_discounted_twice import RewardDiscountedTwice
from tests import wild


def found(fault: str = "") -> list:
    return [each for evidence in wild.seen("vpg", fault) if type(evidence).__name__ == "Script"
            for each in RewardDiscountedTwice().check(evidence)]  # fmt: skip


def test_fires_where_rewards_are_discounted_before_they_are_summed():
    (finding,) = found("rewards-discounted-before")
    assert finding.severity == "error"
    assert "0.98^t × reward + 0.98 × next target" in finding.seen


@pytest.mark.parametrize("fault", ["", "carried-by-lambda"])
def test_quiet_where_the_sum_alone_discounts_them(fault):
    assert not found(fault)
