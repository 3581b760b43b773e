from rldebug.rules.preprocessing.observation_not_seen import ObservationNotSeen
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_values_are_the_same_to_the_bit():
    found = fires(ObservationNotSeen(), ladder(passed("constant-reward"), values("observed-reward", [0.03, 0.03])))
    assert "good 0.03, bad 0.03" in found.seen


def test_quiet_where_they_differ_a_little():
    quiet(ObservationNotSeen(), ladder(passed("constant-reward"), values("observed-reward", [0.03, 0.05])))
