from rldebug.rules.action_sampling.action_range_misplaced import ActionRangeMisplaced
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_another_number_is_played():
    found = fires(ActionRangeMisplaced(), ladder(passed("action-reward"), chances("squashed-range", [1.0])))
    assert "1.00" in found.seen


def test_quiet_where_it_is_still_on_its_way():
    quiet(ActionRangeMisplaced(), ladder(chances("squashed-range", [1.0], outcome="undecided")))
