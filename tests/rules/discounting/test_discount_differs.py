from rldebug.rules.discounting.discount_differs import DiscountDiffers
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_a_chain_tells_another_gamma():
    found = fires(
        DiscountDiffers(),
        ladder(passed("delayed-reward"), values("discount-chain", [0.95 ** (14 - i) for i in range(15)]), told=0.95),
    )
    assert "γ of 0.950" in found.seen


def test_quiet_where_it_tells_the_declared_one():
    quiet(
        DiscountDiffers(),
        ladder(passed("delayed-reward"), values("discount-chain", [0.9 ** (14 - i) for i in range(15)]), told=0.905),
    )


def test_quiet_where_the_end_of_the_chain_is_wrong():
    quiet(DiscountDiffers(), ladder(passed("delayed-reward"), values("discount-chain", [0.4] * 15), told=1.0))


def test_fires_where_two_steps_are_undiscounted():
    found = fires(DiscountDiffers(), ladder(values("delayed-reward", [1.0, 1.0], matched=["undiscounted"])))
    assert "γ of 1.000" in found.seen
