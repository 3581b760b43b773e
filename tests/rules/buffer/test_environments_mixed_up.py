from rldebug.rules.buffer.environments_mixed_up import EnvironmentsMixedUp
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_values_are_mixed():
    found = fires(
        EnvironmentsMixedUp(), ladder(passed("truncated-episode"), values("side-by-side", [0.5, -0.5, 0.1, -0.1]))
    )
    assert "rung 33" in found.seen


def test_quiet_where_time_limits_end_values():
    quiet(EnvironmentsMixedUp(), ladder(values("side-by-side", [0.5, -0.5, 0.1, -0.1], matched=["truncation-as-end"])))
