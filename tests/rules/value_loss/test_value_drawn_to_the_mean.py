from rldebug.rules.value_loss.value_drawn_to_the_mean import ValueDrawnToTheMean
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_both_states_are_worth_the_mean():
    found = fires(
        ValueDrawnToTheMean(),
        ladder(passed("constant-reward", "action-reward"), values("observed-reward", [0.02, -0.03])),
    )
    assert "good 0.02" in found.seen


def test_quiet_where_they_are_told_apart():
    quiet(ValueDrawnToTheMean(), ladder(passed("constant-reward"), values("observed-reward", [1.0, -0.1])))


def test_quiet_where_the_network_is_blind():
    quiet(ValueDrawnToTheMean(), ladder(passed("constant-reward"), values("observed-reward", [0.02, 0.02])))
