from rldebug.rules.preprocessing.channels_mixed_up import ChannelsMixedUp
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(
        ChannelsMixedUp(), ladder(passed("observed-action-reward"), chances("channel-order", *[[0.5, 0.5]] * 3))
    )
    assert "50%" in found.seen


def test_quiet_where_it_does_not_apply():
    quiet(
        ChannelsMixedUp(),
        ladder(passed("observed-action-reward"), chances("channel-order", *[[0.5, 0.5]] * 3, outcome="not applicable")),
    )
