from rldebug.rules.action_sampling.forbidden_actions_taken import ForbiddenActionsTaken
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, returns


def test_fires_where_forbidden_actions_are_taken():
    found = fires(
        ForbiddenActionsTaken(),
        ladder(passed("observed-action-reward"), returns("masked-actions", -2.0, forbidden=1.0)),
    )
    assert "100% of actions" in found.seen


def test_quiet_where_it_passed():
    quiet(ForbiddenActionsTaken(), ladder(returns("masked-actions", 1.0, outcome="passed", forbidden=0.0)))
