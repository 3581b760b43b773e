from rldebug.rules.action_sampling.number_not_learned import NumberNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_another_number_is_played():
    found = fires(NumberNotLearned(), ladder(passed("action-reward"), chances("interior-optimum", [-0.9])))
    assert "-0.90" in found.seen


def test_quiet_where_it_is_still_on_its_way():
    quiet(NumberNotLearned(), ladder(chances("interior-optimum", [-0.9], outcome="undecided")))
