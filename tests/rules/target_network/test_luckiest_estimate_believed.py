from rldebug.rules.target_network.luckiest_estimate_believed import LuckiestEstimateBelieved
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_where_the_door_is_worth_too_much():
    found = fires(LuckiestEstimateBelieved(), ladder(values("noisy-arms", [2.0, 1.0], matched=["luckiest-believed"])))
    assert "door 2.00" in found.seen


def test_quiet_where_it_is_a_little_too_much():
    quiet(LuckiestEstimateBelieved(), ladder(values("noisy-arms", [1.2, 1.0], outcome="passed")))
