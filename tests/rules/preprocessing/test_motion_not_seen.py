from rldebug.rules.preprocessing.motion_not_seen import MotionNotSeen
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, returns


def test_fires_where_the_return_is_that_of_chance():
    found = fires(MotionNotSeen(), ladder(passed("bright-pixel"), returns("moving-dot", 0.02)))
    assert "0.02" in found.seen


def test_quiet_where_it_passed():
    quiet(MotionNotSeen(), ladder(passed("bright-pixel", "moving-dot")))
