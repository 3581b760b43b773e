from rldebug.rules.value_loss.value_not_the_mean import ValueNotTheMean
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_on_the_median():
    found = fires(ValueNotTheMean(), ladder(values("noisy-reward", [0.6], matched=["median"])))
    assert "here 0.60" in found.seen


def test_quiet_where_it_jitters():
    quiet(ValueNotTheMean(), ladder(values("noisy-reward", [0.8], outcome="undecided")))


def test_quiet_where_returns_leak():
    quiet(ValueNotTheMean(), ladder(values("leaking-return", [0.7, -0.7, 1.0])))


def test_fires_where_what_pays_by_chance_is_worth_too_little():
    found = fires(ValueNotTheMean(), ladder(values("leaking-return", [0.0, 0.0, 0.5])))
    assert "y 0.50" in found.seen
