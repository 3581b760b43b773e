from rldebug.rules.optimizer.training_moves_nothing import TrainingMovesNothing
from tests.judge import fires, quiet
from tests.rules.ladders import STILL, chances, ladder, passed, values


def test_fires_where_no_weight_moves():
    found = fires(
        TrainingMovesNothing(),
        ladder(values("constant-reward", [0.4], moved=0.0), chances("action-reward", [0.5, 0.5], moved=0.0)),
    )
    assert "400 optimizer steps moved" in found.seen


def test_quiet_where_only_the_critic_rests():
    quiet(TrainingMovesNothing(), ladder(values("constant-reward", [0.4], errors=STILL), passed("action-reward")))


def test_quiet_where_weights_move_on_another_rung():
    quiet(
        TrainingMovesNothing(),
        ladder(values("constant-reward", [0.4], moved=0.0), chances("action-reward", [0.1, 0.9], outcome="passed")),
    )


def test_quiet_where_values_move_and_are_wrong():
    quiet(TrainingMovesNothing(), ladder(values("constant-reward", [0.2]), chances("action-reward", [0.5, 0.5])))


def test_fires_where_nothing_changes_on_any_rung():
    found = fires(
        TrainingMovesNothing(),
        ladder(values("constant-reward", [0.4], errors=STILL), chances("action-reward", [0.5, 0.5], errors=STILL)),
    )
    assert "as at the start" in found.seen
