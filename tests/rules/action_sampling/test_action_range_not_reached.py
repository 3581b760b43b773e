from rldebug.rules.action_sampling.action_range_not_reached import ActionRangeNotReached
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_another_number_is_played():
    found = fires(ActionRangeNotReached(), ladder(passed("action-reward"), chances("bound-optimum", [1.0])))
    assert "1.00" in found.seen


def test_quiet_where_it_is_still_on_its_way():
    quiet(ActionRangeNotReached(), ladder(chances("bound-optimum", [1.0], outcome="undecided")))
