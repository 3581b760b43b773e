from rldebug.rules.policy_loss.policy_never_moves import PolicyNeverMoves
from tests.judge import fires, quiet
from tests.rules.ladders import STILL, chances, ladder, passed


def test_fires_where_the_policy_never_changes():
    found = fires(
        PolicyNeverMoves(), ladder(passed("constant-reward"), chances("action-reward", [0.5, 0.5], errors=STILL))
    )
    assert "50% for here" in found.seen


def test_quiet_where_it_wanders():
    quiet(PolicyNeverMoves(), ladder(passed("constant-reward"), chances("action-reward", [0.5, 0.5])))
