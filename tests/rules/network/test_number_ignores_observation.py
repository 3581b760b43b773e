from rldebug.rules.network.number_ignores_observation import NumberIgnoresObservation
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_the_number_is_the_same_in_both_states():
    found = fires(
        NumberIgnoresObservation(), ladder(passed("interior-optimum"), chances("observed-number", [0.1], [0.1]))
    )
    assert "low 0.10" in found.seen


def test_quiet_where_it_passed():
    quiet(NumberIgnoresObservation(), ladder(passed("interior-optimum", "observed-number")))
