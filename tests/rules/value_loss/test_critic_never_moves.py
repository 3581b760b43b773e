from rldebug.rules.value_loss.critic_never_moves import CriticNeverMoves
from tests.judge import fires, quiet
from tests.rules.ladders import STILL, ladder, passed, values


def test_fires_where_values_never_change_and_weights_do():
    found = fires(CriticNeverMoves(), ladder(values("constant-reward", [0.4], errors=STILL), passed("action-reward")))
    assert "here 0.40" in found.seen


def test_quiet_where_they_move():
    quiet(CriticNeverMoves(), ladder(values("constant-reward", [0.4]), passed("action-reward")))
