from rldebug.rules.network.policy_blind_to_observation import PolicyBlindToObservation
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_all_states_have_the_same_policy():
    found = fires(
        PolicyBlindToObservation(),
        ladder(passed("action-reward"), chances("observed-action-reward", [0.9, 0.1], [0.9, 0.1])),
    )
    assert "10% for right" in found.seen


def test_quiet_where_they_differ_a_little():
    quiet(
        PolicyBlindToObservation(),
        ladder(passed("action-reward"), chances("observed-action-reward", [0.9, 0.1], [0.88, 0.12])),
    )
