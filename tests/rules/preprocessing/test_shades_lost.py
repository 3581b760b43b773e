from rldebug.rules.preprocessing.shades_lost import ShadesLost
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(ShadesLost(), ladder(passed("observed-action-reward"), chances("uint8-range", *[[0.5, 0.5]] * 2)))
    assert "50%" in found.seen


def test_quiet_where_it_does_not_apply():
    quiet(
        ShadesLost(),
        ladder(passed("observed-action-reward"), chances("uint8-range", *[[0.5, 0.5]] * 2, outcome="not applicable")),
    )
