from rldebug.rules.entropy.policy_kept_random import PolicyKeptRandom
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_leans_and_rests():
    found = fires(PolicyKeptRandom(), ladder(passed("constant-reward"), chances("action-reward", [0.35, 0.65])))
    assert "65% for here" in found.seen


def test_quiet_where_it_is_indifferent():
    quiet(PolicyKeptRandom(), ladder(passed("constant-reward"), chances("action-reward", [0.5, 0.5])))


def test_quiet_where_it_leans_the_wrong_way():
    quiet(PolicyKeptRandom(), ladder(passed("constant-reward"), chances("action-reward", [0.65, 0.35])))
