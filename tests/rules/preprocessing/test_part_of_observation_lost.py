from rldebug.rules.preprocessing.part_of_observation_lost import PartOfObservationLost
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(
        PartOfObservationLost(),
        ladder(passed("observed-action-reward"), chances("dict-observation", *[[0.5, 0.5]] * 4)),
    )
    assert "50%" in found.seen


def test_quiet_where_it_does_not_apply():
    quiet(
        PartOfObservationLost(),
        ladder(
            passed("observed-action-reward"), chances("dict-observation", *[[0.5, 0.5]] * 4, outcome="not applicable")
        ),
    )
