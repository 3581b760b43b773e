from rldebug.rules.exploration.bait_taken import BaitTaken
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_the_bait_is_taken():
    found = fires(BaitTaken(), ladder(passed("two-step-credit"), chances("sparse-chain", *[[0.98, 0.02]] * 5)))
    assert "2% for 0 done" in found.seen


def test_quiet_where_it_passed():
    quiet(BaitTaken(), ladder(passed("two-step-credit", "sparse-chain")))
