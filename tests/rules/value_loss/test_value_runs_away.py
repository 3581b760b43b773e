from rldebug.rules.value_loss.value_runs_away import ValueRunsAway
from tests.judge import fires, quiet
from tests.rules.ladders import GROWING, ladder, values


def test_fires_where_values_fall_and_fall():
    found = fires(ValueRunsAway(), ladder(values("constant-reward", [-60.0], errors=GROWING)))
    assert "here -60.00" in found.seen


def test_quiet_where_they_rise():
    quiet(ValueRunsAway(), ladder(values("constant-reward", [60.0], errors=GROWING)))


def test_quiet_where_they_rest_below():
    quiet(ValueRunsAway(), ladder(values("constant-reward", [-2.0])))
