from rldebug.rules.policy_loss.policy_prefers_the_worst import PolicyPrefersTheWorst
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_the_worst_is_sure():
    found = fires(PolicyPrefersTheWorst(), ladder(passed("constant-reward"), chances("action-reward", [0.98, 0.02])))
    assert "2% for here" in found.seen


def test_quiet_where_it_is_undecided_between_both():
    quiet(PolicyPrefersTheWorst(), ladder(passed("constant-reward"), chances("action-reward", [0.6, 0.4])))


def test_quiet_where_there_is_no_policy_of_its_own():
    quiet(PolicyPrefersTheWorst(), ladder(chances("action-reward", [1.0, 0.0], shows=("q",)), lam=None))
