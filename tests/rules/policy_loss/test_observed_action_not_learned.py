from rldebug.rules.policy_loss.observed_action_not_learned import ObservedActionNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_one_state_is_wrong():
    found = fires(
        ObservedActionNotLearned(),
        ladder(passed("action-reward"), chances("observed-action-reward", [0.9, 0.1], [0.88, 0.12])),
    )
    assert "12% for right" in found.seen


def test_quiet_where_it_passed():
    quiet(ObservedActionNotLearned(), ladder(passed("action-reward", "observed-action-reward")))
