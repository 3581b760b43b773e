from rldebug.rules.buffer.observation_of_another_step import ObservationOfAnotherStep
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed, values


def test_fires_where_one_state_is_learned_and_two_are_not():
    found = fires(
        ObservationOfAnotherStep(),
        ladder(
            passed("constant-reward", "action-reward"),
            values("observed-reward", [0.1, -0.05]),
            chances("observed-action-reward", [0.4, 0.6], [0.5, 0.5]),
        ),
    )
    assert "rung 5" in found.seen


def test_quiet_where_the_policy_sees():
    quiet(
        ObservationOfAnotherStep(),
        ladder(
            passed("constant-reward", "action-reward", "observed-action-reward"),
            values("observed-reward", [0.1, -0.05]),
        ),
    )


def test_quiet_where_the_network_is_blind():
    quiet(
        ObservationOfAnotherStep(),
        ladder(
            passed("action-reward"),
            values("observed-reward", [0.1, 0.1]),
            chances("observed-action-reward", [0.4, 0.6], [0.5, 0.5]),
        ),
    )
