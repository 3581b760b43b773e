from rldebug.rules.buffer.action_of_another_choice import ActionOfAnotherChoice
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_action_values_prefer_the_worst():
    found = fires(
        ActionOfAnotherChoice(),
        ladder(passed("constant-reward"), chances("action-reward", [1.0, 0.0], shows=("q",)), lam=None),
    )
    assert "0% for here" in found.seen


def test_quiet_where_there_is_a_policy():
    quiet(ActionOfAnotherChoice(), ladder(passed("constant-reward"), chances("action-reward", [1.0, 0.0])))
